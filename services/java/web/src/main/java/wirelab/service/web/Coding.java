package wirelab.service.web;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdInputStream;
import com.github.luben.zstd.ZstdOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Locale;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** A content coding of RFC 9110 section 8.4.1: none, gzip (RFC 1952) or zstd (RFC 8878). */
enum Coding {
    NONE(Set.of()),
    GZIP(Set.of("gzip", "x-gzip")),
    ZSTD(Set.of("zstd"));

    /** Names of this coding in Content-Encoding. */
    private final Set<String> names;

    Coding(Set<String> names) {
        this.names = names;
    }

    /** That of bodies; permessage-deflate compresses messages of WebSocket, which have none. */
    static Coding of(String compression) {
        return compression.equals("permessage-deflate") ? NONE : valueOf(compression.toUpperCase(Locale.ROOT));
    }

    String token() {
        return name().toLowerCase(Locale.ROOT);
    }

    boolean reads(String contentEncoding) {
        return names.contains(contentEncoding.toLowerCase(Locale.ROOT));
    }

    boolean isAccepted(Iterable<String> acceptEncoding) {
        return Weights.of(acceptEncoding).allows(names);
    }

    byte[] encode(byte[] body) throws IOException {
        if (this == ZSTD) {
            return Zstd.compress(body);
        }
        ByteArrayOutputStream packed = new ByteArrayOutputStream(Math.max(64, body.length / 2));
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write(body);
        }
        return packed.toByteArray();
    }

    /** Packs what is written to it; a flush makes it readable at the other end. Closing it closes {@code packed}. */
    OutputStream pack(OutputStream packed) throws IOException {
        return this == ZSTD ? new ZstdOutputStream(packed) : new GZIPOutputStream(packed, 512, true);
    }

    /**
     * What is packed, unpacked. Closing it does not close {@code packed}: Tomcat reads the next
     * request by the same stream, and a decoder's finalizer closes it when that request has begun.
     */
    InputStream decode(InputStream packed) throws IOException {
        InputStream kept = new FilterInputStream(packed) {
            @Override
            public void close() {
                // Its owner closes it.
            }
        };
        return this == ZSTD ? new ZstdInputStream(kept) : new GZIPInputStream(kept, 8192);
    }
}
