package wirelab.service.web;

import java.io.IOException;

/** A request's body is not what its content coding says. */
final class BrokenCoding extends IOException {
    private static final long serialVersionUID = 1L;

    BrokenCoding(String coding, IOException cause) {
        super("the body is not " + coding + ": " + cause.getMessage(), cause);
    }
}
