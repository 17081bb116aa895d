package wirelab.service.rest;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import jakarta.servlet.ServletException;
import org.springframework.http.CacheControl;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.web.servlet.function.RequestPredicates;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;
import wirelab.service.Calls;
import wirelab.service.contract.ApplicationError;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Model;
import wirelab.service.contract.StoreUnavailable;
import wirelab.service.contract.Transfer;
import wirelab.service.web.MediaTypes;
import wirelab.service.web.Weights;

/** The operations of a contract at their paths: one handler for all of them. */
final class Operations {
    /** For which a proxy does not ask again. */
    private static final Duration FRESH = Duration.ofHours(1);

    private final Model model;
    private final Codec codec;
    private final Calls calls;
    private final CacheControl cacheControl;
    private final String entityTag;

    /** {@code httpCache} is what caches make of replies: none, revalidate or proxy. */
    Operations(Model model, Codec codec, Calls calls, String httpCache) {
        this.model = model;
        this.codec = codec;
        this.calls = calls;
        cacheControl = switch (httpCache) {
            case "revalidate" -> CacheControl.noCache();
            case "proxy" -> CacheControl.maxAge(FRESH).cachePublic();
            default -> null;
        };
        entityTag = cacheControl == null ? null : ((Transfer) model).entityTag();
    }

    RouterFunction<ServerResponse> routes() {
        RouterFunctions.Builder routes = RouterFunctions.route();
        codec.exchanges(model).forEach(exchange -> route(routes, exchange));
        routes.route(RequestPredicates.all(),
                request -> fail(HttpStatus.NOT_FOUND, "no such path: " + request.path()));
        return routes.build();
    }

    private void route(RouterFunctions.Builder routes, Exchange<?, ?> exchange) {
        HttpMethod method = method(exchange.operation());
        String path = path(model, exchange.operation());
        Calls.Tally tally = calls.tally(exchange.operation());
        routes.route(RequestPredicates.path(path), request -> {
            if (!request.method().equals(method)) {
                return ServerResponse.status(HttpStatus.METHOD_NOT_ALLOWED)
                        .allow(method)
                        .header(HttpHeaders.CONTENT_TYPE, codec.contentType())
                        .body(codec.error(path + " takes " + method + " only"));
            }
            try (Calls.Call call = tally.begin()) {
                Optional<ServerResponse> known =
                        isKept(method) ? request.checkNotModified(entityTag) : Optional.empty();
                if (known.isPresent()) {
                    return describe(ServerResponse.from(known.get()), method).build();
                }
                return answer(call, exchange, request, method);
            }
        });
    }

    /** The fields that caches read, where they may keep the reply. */
    private ServerResponse.BodyBuilder describe(ServerResponse.BodyBuilder response, HttpMethod method) {
        return isKept(method) ? response.eTag(entityTag).cacheControl(cacheControl) : response;
    }

    private boolean isKept(HttpMethod method) {
        return cacheControl != null && method == HttpMethod.GET;
    }

    /** Reads and answers. The reply is written when this call is over, by Spring. */
    private ServerResponse answer(Calls.Call call, Exchange<?, ?> exchange, ServerRequest request, HttpMethod method)
            throws ServletException, IOException {
        HttpServletRequest plain = request.servletRequest();
        if (!Weights.of(Collections.list(plain.getHeaders("Accept"))).accepts(codec.mediaTypes().get(0))) {
            return fail(HttpStatus.NOT_ACCEPTABLE, "this service answers in " + codec.mediaTypes().get(0));
        }
        if (method == HttpMethod.POST
                && !codec.mediaTypes().contains(MediaTypes.removeParameters(plain.getContentType()))) {
            return fail(HttpStatus.UNSUPPORTED_MEDIA_TYPE, "this service reads " + codec.mediaTypes().get(0));
        }
        try {
            Object message = method == HttpMethod.POST
                    ? codec.read(request.body(byte[].class), exchange.request())
                    : null; // what is asked by GET has no fields
            Object reply = exchange.answer(call, message);
            call.replied(new CodedReply(codec, exchange.reply(), reply));
            return describe(ServerResponse.ok(), method)
                    .header(HttpHeaders.CONTENT_TYPE, codec.contentType())
                    .body(reply);
        } catch (StoreUnavailable error) {
            return fail(HttpStatus.SERVICE_UNAVAILABLE, error.getMessage());
        } catch (ApplicationError error) {
            return fail(HttpStatus.BAD_REQUEST, error.getMessage());
        } catch (Codec.Malformed error) {
            return fail(HttpStatus.BAD_REQUEST, error.getMessage());
        }
    }

    private ServerResponse fail(HttpStatus status, String text) {
        return ServerResponse.status(status)
                .header(HttpHeaders.CONTENT_TYPE, codec.contentType())
                .body(codec.error(text));
    }

    static HttpMethod method(String operation) {
        return List.of("Hello", "HelloBytes").contains(operation) ? HttpMethod.GET : HttpMethod.POST;
    }

    /** {@code /charging/direct-debit} of DirectDebit. */
    static String path(Model model, String operation) {
        String hyphens = operation.replaceAll("(?<=[a-z])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
        return "/" + model.contract() + "/" + hyphens;
    }
}
