package wirelab.service.protobuf;

import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

/** The message {@code { string error = 1; }} of every contract's errors. */
public final class ErrorMessage {
    private ErrorMessage() {}

    /** Its bytes. */
    public static byte[] of(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            CodedOutputStream out = CodedOutputStream.newInstance(bytes);
            out.writeString(1, text);
            out.flush();
        } catch (IOException impossible) {
            throw new AssertionError("a ByteArrayOutputStream never fails", impossible);
        }
        return bytes.toByteArray();
    }
}
