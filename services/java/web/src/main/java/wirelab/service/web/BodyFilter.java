package wirelab.service.web;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import wirelab.service.Configuration;

/**
 * The bodies of requests and replies, alike for every servlet: codings undone and done, the length
 * given, left to chunks or to the end of the connection.
 */
public final class BodyFilter implements Filter {
    /** Bounds a request's body after decompression; the largest upload in base64 passes. */
    public static final int BYTES_MAX = 128 << 20;

    /** How an HTTP status outside the contract is answered. */
    @FunctionalInterface
    public interface Rejection {
        /** Writes status, content type and body. */
        void write(HttpServletResponse response, int status, String text) throws IOException;
    }

    private final Coding coding;
    private final String endOfMessage;
    private final boolean http2;
    private final Rejection rejection;

    /** Treats bodies as the stack says. */
    public BodyFilter(Configuration.Stack stack, Rejection rejection) {
        coding = Coding.of(stack.compression());
        endOfMessage = stack.endOfMessage();
        http2 = stack.transport().equals("http/2");
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
            rejection.write(reply, HttpServletResponse.SC_HTTP_VERSION_NOT_SUPPORTED, "this service speaks HTTP/2");
        } else {
            answer(request, reply, chain);
        }
        send(request, response, reply.body());
    }

    private void answer(HttpServletRequest request, HeldReply reply, FilterChain chain)
            throws IOException, ServletException {
        String encoding = request.getHeader("Content-Encoding");
        boolean plain = encoding == null || encoding.equalsIgnoreCase("identity");
        if (!plain && !coding.reads(encoding)) {
            rejection.write(reply, HttpServletResponse.SC_UNSUPPORTED_MEDIA_TYPE,
                    "this service does not read content coding " + encoding);
            return;
        }
        try {
            chain.doFilter(new BoundRequest(request, plain ? null : coding), reply);
        } catch (BodyTooLong error) {
            reply.reset();
            rejection.write(reply, HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE, error.getMessage());
        }
    }

    private void send(HttpServletRequest request, HttpServletResponse response, byte[] body) throws IOException {
        if (response.getStatus() == HttpServletResponse.SC_NOT_MODIFIED) {
            return; // its length would be that of the reply that is not sent (RFC 9110 section 8.6)
        }
        // A reply without content, as of status 204, has nothing to be coded.
        if (coding != Coding.NONE && body.length > 0) {
            response.setHeader("Vary", "Accept-Encoding");
            if (coding.isAccepted(Collections.list(request.getHeaders("Accept-Encoding")))) {
                response.setHeader("Content-Encoding", coding.token());
                body = coding.encode(body);
            }
        }
        switch (endOfMessage) {
            case "content-length" -> response.setContentLength(body.length);
            case "until-close" -> response.setHeader("Connection", "close");
            default -> { } // Tomcat sends chunked without a length
        }
        response.getOutputStream().write(body);
        if (!endOfMessage.equals("content-length")) {
            // Else Tomcat would see the end of a short body and give its length.
            response.flushBuffer();
        }
    }
}
