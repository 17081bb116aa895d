package wirelab.caller.rest;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.CodedInputStream;
import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.http.converter.HttpMessageConversionException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.UnknownContentTypeException;
import wirelab.caller.Client;
import wirelab.caller.Connections;
import wirelab.caller.Failure;
import wirelab.caller.Library;
import wirelab.caller.Target;

/** Spring's RestClient over the HttpClient of the JDK. */
public final class RestLibrary implements Library {
    private Client shared;

    @Override
    public Map<String, Set<String>> able() {
        return Map.of(
                "binding", Set.of("rest"), "codec", Set.of("json", "protobuf", "text"),
                "transport", Set.of("http/1.1"), "connection", Set.of("keep", "close"));
    }

    @Override
    public Map<String, String> stamps() {
        return Map.of(
                "intended", "schedule",
                "sent", "RestClient was called",
                "flushed", "unavailable",
                "first_byte", "RestClient.ExchangeFunction",
                "done", "the body was read and decoded");
    }

    @Override
    public List<Class<?>> classes(Target target) {
        List<Class<?>> found = new ArrayList<>(List.of(RestClient.class, HttpClient.class));
        switch (target.axis("codec", "json")) {
            case "json" -> found.add(ObjectMapper.class);
            case "protobuf" -> found.add(CodedInputStream.class);
            default -> { }
        }
        return found;
    }

    /** One for all users, as it is meant to be used: its pool has a connection for each call under way. */
    @Override
    public synchronized Client client(Target target, Connections connections) {
        if (shared == null) {
            shared = new SpringClient(target);
        }
        return shared;
    }

    @Override
    public Failure failure(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof HttpMessageConversionException || cause instanceof UnknownContentTypeException) {
                return Failure.wrong("the reply cannot be decoded: " + cause.getMessage());
            }
        }
        return null;
    }
}
