package wirelab.caller.rest;

import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.converter.StringHttpMessageConverter;
import org.springframework.http.converter.json.Jackson2ObjectMapperBuilder;
import org.springframework.http.converter.json.MappingJackson2HttpMessageConverter;
import org.springframework.http.converter.protobuf.ProtobufHttpMessageConverter;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClient.RequestHeadersSpec.ConvertibleClientHttpResponse;
import wirelab.caller.Call;
import wirelab.caller.Client;
import wirelab.caller.Failure;
import wirelab.caller.Stamps;
import wirelab.caller.Target;

/** Bodies are encoded and decoded by Spring's own converter of the codec. */
final class SpringClient implements Client {
    private final Target target;
    private final Bodies bodies;
    private final RestClient client;

    SpringClient(Target target) {
        this.target = target;
        bodies = Bodies.of(target.axis("codec", "json"));
        HttpClient http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(target.timeout())
                .build();
        JdkClientHttpRequestFactory requests = new JdkClientHttpRequestFactory(http);
        requests.setReadTimeout(target.timeout());
        RestClient.Builder builder = RestClient.builder()
                .requestFactory(requests)
                .baseUrl("http://" + target.address() + "/" + target.contract() + "/")
                .messageConverters(all -> {
                    all.clear();
                    all.add(converter());
                })
                .defaultHeaders(headers -> headers.setAccept(List.of(type())));
        if (target.closes()) {
            builder.defaultHeader(HttpHeaders.CONNECTION, "close");
        }
        client = builder.build();
    }

    private MediaType type() {
        return switch (target.axis("codec", "json")) {
            case "json" -> MediaType.APPLICATION_JSON;
            case "protobuf" -> ProtobufHttpMessageConverter.PROTOBUF;
            default -> MediaType.TEXT_PLAIN;
        };
    }

    private HttpMessageConverter<?> converter() {
        return switch (target.axis("codec", "json")) {
            // Requests without fields are messages, too.
            case "json" -> new MappingJackson2HttpMessageConverter(
                    Jackson2ObjectMapperBuilder.json().failOnEmptyBeans(false).build());
            case "protobuf" -> new ProtobufHttpMessageConverter();
            default -> new StringHttpMessageConverter(StandardCharsets.UTF_8);
        };
    }

    @Override
    public Object call(Call call, Stamps at) throws Exception {
        RestClient.RequestHeadersSpec<?> request = request(call);
        at.sent();
        Reply reply = request.exchange((sent, response) -> {
            at.firstByte();
            Reply read = read(call, response);
            at.done();
            return read;
        });
        if (reply.failure != null) {
            throw reply.failure;
        }
        return reply.message;
    }

    /** A reply as a message of the contract, or why it is none. */
    private record Reply(Object message, Failure failure) {}

    private RestClient.RequestHeadersSpec<?> request(Call call) {
        String path = hyphenate(call.operation());
        if (call.operation().startsWith("Hello")) {
            return client.get().uri(path);
        }
        Object body = call.prepare(ask -> bodies.request(call, ask));
        return client.post().uri(path).contentType(type()).body(body);
    }

    /** {@code direct-debit} of {@code DirectDebit}. */
    private static String hyphenate(String operation) {
        return operation.replaceAll("(?<=.)(?=\\p{Lu})", "-").toLowerCase(Locale.ROOT);
    }

    private Reply read(Call call, ConvertibleClientHttpResponse response) throws IOException {
        if (response.getStatusCode() != HttpStatus.OK) {
            response.getBody().readAllBytes();
            return new Reply(null, Failure.application("status " + response.getStatusCode()));
        }
        // Spring has no message for an empty body, nor for JSON's null.
        return new Reply(bodies.reply(call, response), null);
    }

    @Override
    public void close() {
        // The connections of HttpClient end with the process.
    }
}
