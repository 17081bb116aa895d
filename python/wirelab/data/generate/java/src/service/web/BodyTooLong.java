package service.web;

import java.io.IOException;

/** A request's body is longer than {@link BodyFilter#BYTES_MAX}. */
final class BodyTooLong extends IOException {
    private static final long serialVersionUID = 1L;

    BodyTooLong() {
        super("a body has at most " + BodyFilter.BYTES_MAX + " bytes");
    }
}
