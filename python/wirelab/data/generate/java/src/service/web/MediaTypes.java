package service.web;

import java.util.Locale;

/** Media types of requests. */
public final class MediaTypes {
    private MediaTypes() {}

    /** Of a Content-Type, without its parameters; empty when there is none. */
    public static String removeParameters(String contentType) {
        return contentType == null ? "" : contentType.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    }
}
