package service.web;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import service.Options;

/** The bodies of requests and replies, for every servlet: codings, bounds, Content-Length. */
public final class BodyFilter implements Filter {
    /** Bounds a request's body after decompression. */
    public static final int BYTES_MAX = 128 << 20;

    /** Writes the reply to a request that is not a call. */
    @FunctionalInterface
    public interface Rejection {
        /** Writes status, content type and body. */
        void write(HttpServletResponse response, int status, String text) throws IOException;
    }

    private final Coding coding;
    private final boolean http2;
    private final Rejection rejection;

    /** Codes replies by the options. */
    public BodyFilter(Options options, Rejection rejection) {
        coding = Coding.of(options.compression());
        http2 = options.isHttp2();
        this.rejection = rejection;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        filter((HttpServletRequest) request, (HttpServletResponse) response, chain);
    }

    private void filter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        HeldReply reply = new HeldReply(response);
        if (http2 && !request.getProtocol().startsWith("HTTP/2")) {
            rejection.write(reply, HttpServletResponse.SC_HTTP_VERSION_NOT_SUPPORTED, "this service takes HTTP/2");
        } else {
            answer(request, reply, chain);
        }
        send(request, response, reply.body());
    }

    private void answer(HttpServletRequest request, HeldReply reply, FilterChain chain)
            throws IOException, ServletException {
        String encoding = request.getHeader("Content-Encoding");
        Coding read = Coding.reading(encoding);
        if (read == null) {
            rejection.write(reply, HttpServletResponse.SC_UNSUPPORTED_MEDIA_TYPE,
                    "this service does not read content coding " + encoding);
            return;
        }
        try {
            chain.doFilter(new BoundRequest(request, read == Coding.NONE ? null : read), reply);
        } catch (BodyTooLong error) {
            reply.reset();
            rejection.write(reply, HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE, error.getMessage());
        }
    }

    private void send(HttpServletRequest request, HttpServletResponse response, byte[] body) throws IOException {
        byte[] sent = body;
        if (coding != Coding.NONE && body.length > 0) {
            response.setHeader("Vary", "Accept-Encoding");
            if (coding.isAccepted(Collections.list(request.getHeaders("Accept-Encoding")))) {
                response.setHeader("Content-Encoding", coding.token());
                sent = coding.encode(body);
            }
        }
        response.setContentLength(sent.length);
        response.getOutputStream().write(sent);
    }
}
