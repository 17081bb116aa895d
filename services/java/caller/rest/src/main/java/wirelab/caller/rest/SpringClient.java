package wirelab.caller.rest;

import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.converter.StringHttpMessageConverter;
import org.springframework.http.converter.json.MappingJackson2HttpMessageConverter;
import org.springframework.http.converter.protobuf.ProtobufHttpMessageConverter;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClient.RequestHeadersSpec.ConvertibleClientHttpResponse;
import wirelab.caller.Client;
import wirelab.caller.Failure;
import wirelab.caller.Stamps;
import wirelab.caller.Target;
import wirelab.service.contract.message.TransferMessages;

/** Replies are decoded by Spring's own converter of the codec. */
final class SpringClient implements Client {
    private final Target target;
    private final RestClient client;

    SpringClient(Target target) {
        this.target = target;
        HttpClient http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(target.timeout())
                .build();
        JdkClientHttpRequestFactory requests = new JdkClientHttpRequestFactory(http);
        requests.setReadTimeout(target.timeout());
        RestClient.Builder builder = RestClient.builder()
                .requestFactory(requests)
                .baseUrl("http://" + target.address() + "/transfer/" + (target.isBytes() ? "hello-bytes" : "hello"))
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
            case "json" -> new MappingJackson2HttpMessageConverter();
            case "protobuf" -> new ProtobufHttpMessageConverter();
            default -> new StringHttpMessageConverter(StandardCharsets.UTF_8);
        };
    }

    @Override
    public void call(Stamps at) throws Exception {
        at.sent();
        Failure why = client.get().exchange((request, response) -> {
            at.firstByte();
            return compare(response);
        });
        if (why != null) {
            throw why;
        }
    }

    /** Why the reply is not the contract's; null: it is. */
    private Failure compare(ConvertibleClientHttpResponse response) throws IOException {
        if (response.getStatusCode() != HttpStatus.OK) {
            response.getBody().readAllBytes();
            return Failure.application("status " + response.getStatusCode());
        }
        try {
            if (target.isBytes()) {
                target.compare(bytes(response));
            } else {
                target.compare(text(response));
            }
            return null;
        } catch (Failure why) {
            return why;
        }
    }

    /** Spring has no message for an empty body, nor for JSON's null: then there is no text either. */
    private static <M, T> T field(M message, Function<M, T> text) {
        return message == null ? null : text.apply(message);
    }

    private String text(ConvertibleClientHttpResponse response) {
        return switch (target.axis("codec", "json")) {
            case "json" -> field(response.bodyTo(TransferMessages.HelloReply.class), reply -> reply.text);
            case "protobuf" -> field(
                    response.bodyTo(wirelab.transfer.v1.HelloReply.class), wirelab.transfer.v1.HelloReply::getText);
            default -> response.bodyTo(String.class);
        };
    }

    private byte[] bytes(ConvertibleClientHttpResponse response) {
        return switch (target.axis("codec", "json")) {
            case "json" -> field(response.bodyTo(TransferMessages.HelloBytesReply.class), reply -> reply.text);
            case "protobuf" -> field(
                    response.bodyTo(wirelab.transfer.v1.HelloBytesReply.class), reply -> reply.getText().toByteArray());
            default -> field(response.bodyTo(String.class), text -> text.getBytes(StandardCharsets.UTF_8));
        };
    }

    @Override
    public void close() {
        // The connections of HttpClient end with the process.
    }
}
