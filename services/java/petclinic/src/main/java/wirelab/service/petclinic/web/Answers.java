package wirelab.service.petclinic.web;

import java.net.URI;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import wirelab.service.Calls;
import wirelab.service.contract.StoreUnavailable;
import wirelab.service.petclinic.ClinicError;
import wirelab.service.petclinic.message.Messages;

/** Accounts for the calls of the controllers, and turns replies and errors into HTTP. */
final class Answers {
    /** What all paths begin with. */
    static final String PREFIX = "/petclinic/api/";

    /** The header field that names what is wrong with a request. */
    private static final String ERRORS = "errors";

    private final Messages messages;
    private final Calls calls;
    private final MediaType mediaType;

    Answers(Messages messages, Calls calls) {
        this.messages = messages;
        this.calls = calls;
        mediaType = MediaType.parseMediaType(messages.mediaType());
    }

    /** A new row's id and the reply that shows it. */
    record Made(int id, Object reply) {}

    Made made(int id, Object reply) {
        return new Made(id, reply);
    }

    /** A parameter that is no int32. */
    static final class NoNumber extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NoNumber(String text) {
            super("\"" + text + "\" is no number of 32 bits", null, false, false);
        }
    }

    /** A parameter of a path. */
    static int id(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException none) {
            throw new NoNumber(text);
        }
    }

    private interface Work {
        ResponseEntity<Object> answer() throws Messages.Malformed;
    }

    private ResponseEntity<Object> call(String operation, Work work) {
        try (Calls.Call call = calls.tally(operation).begin()) {
            return answer(call, work);
        }
    }

    private ResponseEntity<Object> answer(Calls.Call call, Work work) {
        try {
            return work.answer();
        } catch (ClinicError error) {
            call.failed();
            return error.kind() == ClinicError.Kind.NOT_FOUND
                    ? ResponseEntity.notFound().build()
                    : failed(HttpStatus.BAD_REQUEST, error.getMessage());
        } catch (Messages.Malformed error) {
            return failed(HttpStatus.BAD_REQUEST, error.getMessage());
        } catch (StoreUnavailable error) {
            return failed(HttpStatus.SERVICE_UNAVAILABLE, error.getMessage());
        }
    }

    /** An error with its text. */
    ResponseEntity<Object> failed(HttpStatus status, String text) {
        ResponseEntity.BodyBuilder reply =
                ResponseEntity.status(status).contentType(mediaType);
        if (status == HttpStatus.BAD_REQUEST) {
            reply.header(ERRORS, text.replaceAll("[^ -~]", "?"));
        }
        return reply.body(new ReplyConverter.Failure(text));
    }

    private ResponseEntity<Object> good(Object reply) {
        return ResponseEntity.ok().contentType(mediaType).body(reply);
    }

    /** Rows that were asked for. */
    ResponseEntity<Object> found(String operation, Supplier<Object> reply) {
        return call(operation, () -> good(reply.get()));
    }

    /** A new row without its path. */
    ResponseEntity<Object> added(String operation, byte[] body, Function<Object, Object> reply) {
        return call(operation, () -> good(reply.apply(read(operation, body))));
    }

    /** A new row below {@code path}. */
    ResponseEntity<Object> created(String operation, String path, byte[] body, Function<Object, Made> reply) {
        return call(operation, () -> {
            Made made = reply.apply(read(operation, body));
            return ResponseEntity.created(URI.create(PREFIX + path + "/" + made.id()))
                    .contentType(mediaType)
                    .body(made.reply());
        });
    }

    /** A row that has changed. */
    ResponseEntity<Object> changed(String operation, byte[] body, Consumer<Object> change) {
        return call(operation, () -> {
            change.accept(read(operation, body));
            return ResponseEntity.noContent().build();
        });
    }

    /** A row that is gone. */
    ResponseEntity<Object> deleted(String operation, Runnable deletion) {
        return call(operation, () -> {
            deletion.run();
            return ResponseEntity.noContent().build();
        });
    }

    private Object read(String operation, byte[] body) throws Messages.Malformed {
        return messages.read(operation, body == null ? new byte[0] : body);
    }
}
