package wirelab.service.spring;

import java.io.IOException;
import java.util.function.Function;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.HttpOutputMessage;
import org.springframework.http.MediaType;
import org.springframework.http.converter.AbstractHttpMessageConverter;

/**
 * The one codec of a stack in the place of Spring's own converters. Requests stay bytes, since the operation
 * decides which message they hold; replies are written by the codec, and bytes as they are.
 */
public final class ReplyConverter extends AbstractHttpMessageConverter<Object> {
    private final Function<Object, byte[]> codec;

    /** Writes replies by {@code codec}. */
    public ReplyConverter(Function<Object, byte[]> codec) {
        super(MediaType.ALL);
        this.codec = codec;
    }

    @Override
    protected boolean supports(Class<?> type) {
        return true;
    }

    @Override
    public boolean canRead(Class<?> type, MediaType mediaType) {
        return type == byte[].class;
    }

    @Override
    protected Object readInternal(Class<?> type, HttpInputMessage input) throws IOException {
        return input.getBody().readAllBytes();
    }

    @Override
    protected void writeInternal(Object reply, HttpOutputMessage output) throws IOException {
        output.getBody().write(reply instanceof byte[] bytes ? bytes : codec.apply(reply));
    }
}
