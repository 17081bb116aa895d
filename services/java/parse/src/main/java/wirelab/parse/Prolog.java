package wirelab.parse;

import java.nio.charset.StandardCharsets;

/**
 * What comes before the first element, read without a library: a parser of the JDK that has read a
 * document before would make the first parse of another one faster.
 */
final class Prolog {
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    private final byte[] document;
    private int at;

    private Prolog(byte[] document) {
        this.document = document;
    }

    /**
     * Refuses a document type declaration, for not every parser can: entities are declared in it, which
     * name files and hosts or grow without bound. Also what is not UTF-8, as far as it is read here.
     */
    static void check(byte[] document) throws Refused {
        new Prolog(document).read();
    }

    private void read() throws Refused {
        if (begins(BYTE_ORDER_MARK)) {
            at += BYTE_ORDER_MARK.length;
        }
        while (true) {
            skipWhiteSpace();
            if (begins("<?")) {
                skip("<?", "?>");
            } else if (begins("<!--")) {
                skip("<!--", "-->");
            } else if (begins("<!")) {
                throw new Refused("the document has a document type declaration");
            } else if (begins("<")) {
                return;
            } else {
                throw new Refused("the document is not well formed: no element begins at byte " + at);
            }
        }
    }

    private void skipWhiteSpace() {
        while (at < document.length && " \t\r\n".indexOf(document[at]) >= 0) {
            at++;
        }
    }

    /** Moves behind the first {@code end} that follows {@code begin}. */
    private void skip(String begin, String end) throws Refused {
        int from = at;
        byte[] ending = end.getBytes(StandardCharsets.US_ASCII);
        at += begin.length();
        while (!begins(ending)) {
            if (at >= document.length) {
                throw new Refused("the document is not well formed: " + begin + " at byte " + from + " does not end");
            }
            at++;
        }
        at += ending.length;
    }

    private boolean begins(String text) {
        return begins(text.getBytes(StandardCharsets.US_ASCII));
    }

    private boolean begins(byte[] bytes) {
        if (bytes.length > document.length - at) {
            return false;
        }
        for (int offset = 0; offset < bytes.length; offset++) {
            if (document[at + offset] != bytes[offset]) {
                return false;
            }
        }
        return true;
    }
}
