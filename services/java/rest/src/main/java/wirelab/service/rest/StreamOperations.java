package wirelab.service.rest;

import jakarta.servlet.http.HttpServletRequest;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.function.Consumer;
import org.springframework.http.CacheControl;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.servlet.function.RequestPredicates;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;
import wirelab.service.Calls;
import wirelab.service.Configuration;
import wirelab.service.contract.ApplicationError;
import wirelab.service.contract.FeedRun;
import wirelab.service.contract.Intake;
import wirelab.service.contract.Stream;
import wirelab.service.contract.message.StreamMessages.FeedRequest;
import wirelab.service.contract.message.StreamMessages.Item;
import wirelab.service.web.MediaTypes;
import wirelab.service.web.StreamFilter;
import wirelab.service.web.Weights;

/** Contract {@code stream} over HTTP: items as lines of JSON with rest, as server-sent events with sse. */
final class StreamOperations {
    private static final String EVENTS = MediaType.TEXT_EVENT_STREAM_VALUE;
    private static final String LINES = MediaType.APPLICATION_NDJSON_VALUE;

    private final Stream model;
    private final Codec codec;
    private final Calls calls;
    private final boolean events;
    /** Every item is sent at once; else when Tomcat's buffer of 8 kB is full. */
    private final boolean flushes;

    /** As the stack says. */
    StreamOperations(Stream model, Codec codec, Calls calls, Configuration.Stack stack) {
        this.model = model;
        this.codec = codec;
        this.calls = calls;
        events = stack.binding().equals("sse");
        flushes = stack.flush().equals("item");
    }

    /** One operation, within a call that it ends. */
    private interface Operation {
        ServerResponse answer(Calls.Call call, HttpServletRequest request) throws IOException, ApplicationError, Codec.Malformed;
    }

    RouterFunction<ServerResponse> routes() {
        RouterFunctions.Builder routes = RouterFunctions.route();
        String json = codec.mediaTypes().get(0);
        route(routes, "Feed", json, events ? EVENTS : LINES, this::feed);
        if (!events) {
            route(routes, "Push", LINES, json, this::push);
        }
        routes.route(RequestPredicates.all(),
                request -> fail(HttpStatus.NOT_FOUND, "no such path: " + request.path()));
        return routes.build();
    }

    private void route(RouterFunctions.Builder routes, String name, String reads, String writes, Operation operation) {
        String path = Operations.path(model, name);
        Calls.Tally tally = calls.tally(name);
        routes.route(RequestPredicates.path(path), request -> {
            if (!request.method().equals(HttpMethod.POST)) {
                return ServerResponse.status(HttpStatus.METHOD_NOT_ALLOWED)
                        .allow(HttpMethod.POST)
                        .header(HttpHeaders.CONTENT_TYPE, codec.contentType())
                        .body(codec.error(path + " takes POST only"));
            }
            return answer(tally.begin(), operation, request, reads, writes);
        });
    }

    private ServerResponse answer(
            Calls.Call call, Operation operation, ServerRequest request, String reads, String writes)
            throws IOException {
        HttpServletRequest plain = request.servletRequest();
        HttpStatus status = HttpStatus.BAD_REQUEST;
        String wrong;
        try {
            if (!Weights.of(Collections.list(plain.getHeaders("Accept"))).accepts(writes)) {
                status = HttpStatus.NOT_ACCEPTABLE;
                wrong = "this service answers in " + writes;
            } else if (!reads.equals(MediaTypes.removeParameters(plain.getContentType()))) {
                status = HttpStatus.UNSUPPORTED_MEDIA_TYPE;
                wrong = "this service reads " + reads;
            } else {
                return operation.answer(call, plain);
            }
        } catch (ApplicationError error) {
            call.failed();
            wrong = error.getMessage();
        } catch (Codec.Malformed error) {
            wrong = error.getMessage();
        } catch (ItemLines.TooLong error) {
            status = HttpStatus.PAYLOAD_TOO_LARGE;
            wrong = error.getMessage();
        } catch (IOException gone) {
            call.close();
            throw gone;
        }
        call.close();
        return fail(status, wrong);
    }

    private ServerResponse fail(HttpStatus status, String text) {
        return ServerResponse.status(status)
                .header(HttpHeaders.CONTENT_TYPE, codec.contentType())
                .body(codec.error(text));
    }

    private ServerResponse feed(Calls.Call call, HttpServletRequest request)
            throws IOException, ApplicationError, Codec.Malformed {
        byte[] text = ItemLines.readWhole(request.getInputStream());
        long receivedNs = System.nanoTime();
        FeedRequest ask = (FeedRequest) codec.read(text, FeedRequest.class);
        Stream.check(ask);
        StreamFilter.Body body = StreamFilter.bodyOf(request);
        return events
                ? ServerResponse.sse(builder -> sendEvents(builder, body, call, receivedNs, ask))
                : ServerResponse.ok()
                        .contentType(MediaType.APPLICATION_NDJSON)
                        .cacheControl(CacheControl.noStore())
                        .stream(builder -> sendLines(builder, body, call, receivedNs, ask));
    }

    private void sendEvents(
            ServerResponse.SseBuilder builder, StreamFilter.Body body, Calls.Call call, long receivedNs,
            FeedRequest ask) {
        WaitingReader reader = new WaitingReader(body, builder::complete, builder::error) {
            @Override
            public void send(Item item) throws IOException {
                // As a text, all of an event is one write and one flush; as an object, it would be three.
                builder.id(String.valueOf(item.index)).data(json(item));
            }
        };
        FeedRun run = new FeedRun(model, calls, call, receivedNs, ask, reader);
        builder.onError(gone -> run.cancel());
        run.start();
    }

    private void sendLines(
            ServerResponse.StreamBuilder builder, StreamFilter.Body body, Calls.Call call, long receivedNs,
            FeedRequest ask) {
        WaitingReader reader = new WaitingReader(body, builder::complete, builder::error) {
            @Override
            public void send(Item item) throws IOException {
                builder.write(json(item) + "\n");
                if (flushes) {
                    builder.flush();
                }
            }
        };
        FeedRun run = new FeedRun(model, calls, call, receivedNs, ask, reader);
        builder.onError(gone -> run.cancel());
        run.start();
    }

    private String json(Item item) {
        return new String(codec.write(item), StandardCharsets.UTF_8);
    }

    /** Tomcat holds the thread that writes up until the client has taken enough. */
    private abstract static class WaitingReader implements FeedRun.Reader {
        private final StreamFilter.Body body;
        private final Runnable end;
        private final Consumer<Throwable> fail;

        WaitingReader(StreamFilter.Body body, Runnable end, Consumer<Throwable> fail) {
            this.body = body;
            this.end = end;
            this.fail = fail;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void complete() {
            try {
                body.end();
            } catch (IOException gone) {
                fail.accept(gone);
                return;
            }
            end.run();
        }
    }

    private ServerResponse push(Calls.Call call, HttpServletRequest request)
            throws IOException, ApplicationError, Codec.Malformed {
        ItemLines lines = new ItemLines(new BufferedInputStream(request.getInputStream()));
        Intake intake = new Intake();
        for (byte[] line = lines.next(); line != null; line = lines.next()) {
            Item item = (Item) codec.read(line, Item.class);
            intake.add(item.index, item.text);
        }
        call.close();
        return ServerResponse.ok().header(HttpHeaders.CONTENT_TYPE, codec.contentType()).body(intake.reply());
    }
}
