package service.rest;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.Collections;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.web.servlet.function.RequestPredicates;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;
import service.Answers;
import service.codec.Codec;
import service.rules.BadMessage;
import service.web.BadCoding;
import service.web.MediaTypes;
import service.web.Weights;

/** {@code POST /call}. */
final class CallHandler<Q, R> {
    private static final String PATH = "/call";

    private final Codec codec;
    private final Answers<Q, R> answers;

    CallHandler(Codec codec, Answers<Q, R> answers) {
        this.codec = codec;
        this.answers = answers;
    }

    RouterFunction<ServerResponse> routes() {
        return RouterFunctions.route()
                .route(RequestPredicates.path(PATH), this::call)
                .route(RequestPredicates.all(), request -> fail(HttpStatus.NOT_FOUND, "no such path: " + request.path()))
                .build();
    }

    private ServerResponse call(ServerRequest request) throws ServletException, IOException {
        if (!request.method().equals(HttpMethod.POST)) {
            return ServerResponse.status(HttpStatus.METHOD_NOT_ALLOWED)
                    .allow(HttpMethod.POST)
                    .header(HttpHeaders.CONTENT_TYPE, codec.mediaTypes().get(0))
                    .body(codec.error(PATH + " takes POST only"));
        }
        HttpServletRequest plain = request.servletRequest();
        if (!Weights.of(Collections.list(plain.getHeaders("Accept"))).accepts(codec.mediaTypes().get(0))) {
            return fail(HttpStatus.NOT_ACCEPTABLE, "this service answers in " + codec.mediaTypes().get(0));
        }
        if (!codec.mediaTypes().contains(MediaTypes.removeParameters(plain.getContentType()))) {
            return fail(HttpStatus.UNSUPPORTED_MEDIA_TYPE, "this service reads " + codec.mediaTypes().get(0));
        }
        try {
            Object message = codec.read(request.body(byte[].class), answers.request());
            return ServerResponse.ok()
                    .header(HttpHeaders.CONTENT_TYPE, codec.mediaTypes().get(0))
                    .body(answers.answerObject(message));
        } catch (Codec.Malformed | BadCoding | BadMessage error) {
            return fail(HttpStatus.BAD_REQUEST, error.getMessage());
        }
    }

    private ServerResponse fail(HttpStatus status, String text) {
        return ServerResponse.status(status)
                .header(HttpHeaders.CONTENT_TYPE, codec.mediaTypes().get(0))
                .body(codec.error(text));
    }
}
