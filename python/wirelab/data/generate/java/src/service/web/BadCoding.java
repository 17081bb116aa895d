package service.web;

import java.io.IOException;

/** A request's body is not in its Content-Encoding. */
public final class BadCoding extends IOException {
    private static final long serialVersionUID = 1L;

    BadCoding(IOException cause) {
        super("the body is not in its content coding: " + cause.getMessage(), cause);
    }
}
