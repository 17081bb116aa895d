package wirelab.service.petclinic.web;

import java.net.URI;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import wirelab.service.Calls;
import wirelab.service.Coded;
import wirelab.service.contract.StoreUnavailable;
import wirelab.service.contract.message.Lexical;
import wirelab.service.petclinic.ClinicError;
import wirelab.service.petclinic.message.Messages;

/** Accounts for the calls of the controllers, and turns replies and errors into HTTP. */
final class Answers {
    /** What all paths begin with. */
    static final String PREFIX = "/petclinic/api/";

    /** Characters of {@link Statuses#ERRORS}: a server bounds the head of a reply. */
    private static final int ERRORS_MAX = 200;

    private final Messages messages;
    private final Calls calls;
    private final MediaType mediaType;

    Answers(Messages messages, Calls calls) {
        this.messages = messages;
        this.calls = calls;
        mediaType = MediaType.parseMediaType(messages.mediaType());
    }

    /** A reply, and what it was made of: messages of rows, and bytes of messages. */
    record Reply<R>(Object message, R rows, Function<R, Object> mapping) {}

    /** A new row's id and the reply that shows it. */
    record Made(int id, Reply<?> reply) {}

    /** Replies made by one of the codec's functions. */
    <R> Function<R, Reply<?>> encodeWith(Function<R, Object> mapping) {
        return rows -> new Reply<>(mapping.apply(rows), rows, mapping);
    }

    <R> Made make(int id, R row, Function<R, Object> mapping) {
        return new Made(id, encodeWith(mapping).apply(row));
    }

    /** Encodes from the rows on, as a call does, including the objects that the mapper makes. */
    private <R> Coded encodeLater(String operation, Reply<R> reply) {
        return new Coded() {
            @Override
            public Object message() {
                return reply.rows();
            }

            @Override
            public byte[] encode(Object rows) {
                return messages.write(reply.mapping().apply(reply.rows()));
            }

            @Override
            public Object decode(byte[] bytes) throws Messages.Malformed {
                return messages.readReply(operation, bytes);
            }
        };
    }

    /** A parameter that cannot be what it is to be. */
    static final class WrongParameter extends RuntimeException {
        private static final long serialVersionUID = 1L;

        WrongParameter(String text) {
            super(text, null, false, false);
        }
    }

    /** A parameter of a path. */
    static int id(String text) {
        try {
            return Integer.parseInt(Lexical.ascii(text));
        } catch (NumberFormatException none) {
            throw new WrongParameter("\"" + text + "\" is not a number of 32 bits");
        }
    }

    /** A parameter of a query. */
    static String text(String text) {
        if (text.indexOf(0) >= 0) {
            throw new WrongParameter("a text must not have a NUL");
        }
        return text;
    }

    private interface Work {
        ResponseEntity<Object> answer(Calls.Call call) throws Messages.Malformed;
    }

    private ResponseEntity<Object> call(String operation, Work work) {
        try (Calls.Call call = calls.tally(operation).begin()) {
            return answer(call, work);
        }
    }

    private ResponseEntity<Object> answer(Calls.Call call, Work work) {
        try {
            return work.answer(call);
        } catch (ClinicError error) {
            call.failed();
            return error.kind() == ClinicError.Kind.NOT_FOUND
                    ? ResponseEntity.status(Statuses.NO_ROW).build()
                    : invalid(error);
        } catch (Messages.Malformed error) {
            return invalid(error);
        } catch (StoreUnavailable error) {
            return answerFailure(Statuses.STORE_UNAVAILABLE, error);
        }
    }

    /** The answer to a body that is not a message, or breaks the contract. */
    ResponseEntity<Object> invalid(Exception error) {
        String text = String.valueOf(error.getMessage()).replaceAll("[^ -~]", "?");
        return answerFailure(Statuses.INVALID, error, Map.of(
                Statuses.ERRORS, text.substring(0, Math.min(text.length(), ERRORS_MAX))));
    }

    /** The answer to any other exception. */
    ResponseEntity<Object> answerFailure(HttpStatus status, Exception error) {
        return answerFailure(status, error, Map.of());
    }

    private ResponseEntity<Object> answerFailure(HttpStatus status, Exception error, Map<String, String> fields) {
        return ResponseEntity.status(status)
                .contentType(mediaType)
                .headers(headers -> headers.setAll(fields))
                .body(messages.error(error.getClass().getName(), String.valueOf(error.getMessage())));
    }

    private ResponseEntity<Object> with(
            ResponseEntity.BodyBuilder head, Calls.Call call, String operation, Reply<?> reply) {
        call.replied(encodeLater(operation, reply));
        return head.contentType(mediaType).body(reply.message());
    }

    /** Rows that were asked for. */
    ResponseEntity<Object> answerFound(String operation, Supplier<Reply<?>> reply) {
        return call(operation, call -> with(ResponseEntity.status(Statuses.FOUND), call, operation, reply.get()));
    }

    /** A new row without its path. */
    ResponseEntity<Object> answerAdded(String operation, byte[] body, Function<Object, Reply<?>> reply) {
        return call(operation, call ->
                with(ResponseEntity.status(Statuses.ADDED), call, operation, reply.apply(read(operation, body))));
    }

    /** A new row below {@code path}. */
    ResponseEntity<Object> answerCreated(String operation, String path, byte[] body, Function<Object, Made> reply) {
        return call(operation, call -> {
            Made made = reply.apply(read(operation, body));
            URI row = URI.create(PREFIX + path + "/" + made.id());
            return with(ResponseEntity.status(Statuses.CREATED).location(row), call, operation, made.reply());
        });
    }

    /** A row that has changed. */
    ResponseEntity<Object> answerChanged(String operation, byte[] body, Consumer<Object> change) {
        return call(operation, call -> {
            change.accept(read(operation, body));
            return ResponseEntity.status(Statuses.DONE).build();
        });
    }

    /** A row that is gone. */
    ResponseEntity<Object> answerDeleted(String operation, Runnable deletion) {
        return call(operation, call -> {
            deletion.run();
            return ResponseEntity.status(Statuses.DONE).build();
        });
    }

    private Object read(String operation, byte[] body) throws Messages.Malformed {
        return messages.read(operation, body == null ? new byte[0] : body);
    }
}
