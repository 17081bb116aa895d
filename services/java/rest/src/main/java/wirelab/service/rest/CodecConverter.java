package wirelab.service.rest;

import java.io.IOException;
import org.springframework.http.HttpInputMessage;
import org.springframework.http.HttpOutputMessage;
import org.springframework.http.MediaType;
import org.springframework.http.converter.AbstractHttpMessageConverter;
import org.springframework.http.converter.HttpMessageNotReadableException;

/** A codec as Spring's way from a body to a message and back. */
final class CodecConverter extends AbstractHttpMessageConverter<Object> {
    private final Codec codec;

    CodecConverter(Codec codec) {
        super(codec.mediaTypes().stream().map(MediaType::parseMediaType).toArray(MediaType[]::new));
        this.codec = codec;
    }

    @Override
    protected boolean supports(Class<?> message) {
        return true;
    }

    @Override
    protected Object readInternal(Class<?> message, HttpInputMessage input) throws IOException {
        byte[] bytes = input.getBody().readAllBytes();
        try {
            return codec.read(bytes, message);
        } catch (Codec.Malformed error) {
            throw new HttpMessageNotReadableException(error.getMessage(), error, input);
        }
    }

    @Override
    protected void writeInternal(Object message, HttpOutputMessage output) throws IOException {
        output.getBody().write(message instanceof Failure failure
                ? codec.error(failure.text())
                : codec.write(message));
    }

    /** What is answered instead of a reply. */
    record Failure(String text) {}
}
