package wirelab.service.axis;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import org.apache.axis.components.encoding.XMLEncoder;

/**
 * Text as XML in UTF-8. Axis 1.4's own writer makes two references of a character beyond the basic
 * plane, which no reader may take, and lets a carriage return through, which every reader changes
 * (XML 1.0 sections 2.2 and 2.11). Axis finds this class as a service and prefers it.
 */
public final class ReferenceFreeEncoder implements XMLEncoder {
    @Override
    public String getEncoding() {
        return "UTF-8";
    }

    @Override
    public String encode(String text) {
        StringWriter encoded = new StringWriter();
        try {
            writeEncoded(encoded, text);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return encoded.toString();
    }

    @Override
    public void writeEncoded(Writer to, String text) throws IOException {
        if (text == null) {
            return;
        }
        int from = 0;
        for (int at = 0; at < text.length(); at++) {
            String escaped = escape(text.charAt(at));
            if (escaped != null) {
                to.write(text, from, at - from);
                to.write(escaped);
                from = at + 1;
            }
        }
        to.write(text, from, text.length() - from);
    }

    private static String escape(char letter) {
        return switch (letter) {
            case '<' -> "&lt;";
            case '>' -> "&gt;";
            case '&' -> "&amp;";
            case '"' -> "&quot;";
            case '\r' -> "&#13;";
            default -> null;
        };
    }
}
