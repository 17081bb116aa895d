package service.rest;

import java.io.IOException;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.HttpOutputMessage;
import org.springframework.http.MediaType;
import org.springframework.http.converter.AbstractHttpMessageConverter;
import service.codec.Codec;

/** Leaves requests bytes; writes replies by the codec, and bytes as they are. */
final class ReplyConverter extends AbstractHttpMessageConverter<Object> {
    private final Codec codec;

    ReplyConverter(Codec codec) {
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
        output.getBody().write(reply instanceof byte[] bytes ? bytes : codec.write(reply));
    }
}
