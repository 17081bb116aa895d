package wirelab.service.petclinic.web;

import java.io.IOException;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.HttpOutputMessage;
import org.springframework.http.MediaType;
import org.springframework.http.converter.AbstractHttpMessageConverter;
import org.springframework.http.converter.HttpMessageNotReadableException;
import wirelab.service.petclinic.message.Messages;

/** Bodies by the one codec of the stack. Those of requests stay bytes: which message they hold depends on the operation. */
final class ReplyConverter extends AbstractHttpMessageConverter<Object> {
    private final Messages messages;

    ReplyConverter(Messages messages) {
        super(MediaType.ALL);
        this.messages = messages;
    }

    @Override
    protected boolean supports(Class<?> type) {
        return true;
    }

    @Override
    protected Object readInternal(Class<?> type, HttpInputMessage input) throws IOException {
        if (type != byte[].class) {
            throw new HttpMessageNotReadableException("only bytes are read, not " + type, input);
        }
        return input.getBody().readAllBytes();
    }

    @Override
    protected void writeInternal(Object reply, HttpOutputMessage output) throws IOException {
        output.getBody().write(reply instanceof Failure failure
                ? messages.error(failure.text())
                : messages.write(reply));
    }

    /** What is answered instead of a reply. */
    record Failure(String text) {}
}
