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

/** The bodies of streams: passed on as they come, where the stack has a content coding in that. */
public final class StreamFilter implements Filter {
    private static final String BODY = StreamFilter.class.getName();

    private final Coding coding;
    private final boolean http2;
    private final BodyFilter.Rejection rejection;

    /** The body of a reply that is written after its request was handled. */
    @FunctionalInterface
    public interface Body {
        /** Writes what its coding has at the end. */
        void end() throws IOException;
    }

    /** Treats bodies as the stack says, and refuses what it does not have. */
    public StreamFilter(Configuration.Stack stack, BodyFilter.Rejection rejection) {
        coding = Coding.of(stack.compression());
        http2 = stack.transport().equals("http/2");
        this.rejection = rejection;
    }

    /** The body of the reply to a request that passed the filter. */
    public static Body bodyOf(HttpServletRequest request) {
        return (Body) request.getAttribute(BODY);
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        HttpServletRequest asked = (HttpServletRequest) request;
        HttpServletResponse reply = (HttpServletResponse) response;
        String encoding = asked.getHeader("Content-Encoding");
        boolean plain = encoding == null || encoding.equalsIgnoreCase("identity");
        if (http2 && !asked.getProtocol().startsWith("HTTP/2")) {
            rejection.write(reply, HttpServletResponse.SC_HTTP_VERSION_NOT_SUPPORTED, "this service speaks HTTP/2");
        } else if (!plain && !coding.reads(encoding)) {
            rejection.write(reply, HttpServletResponse.SC_UNSUPPORTED_MEDIA_TYPE,
                    "this service does not read content coding " + encoding);
        } else {
            pass(plain ? asked : new BoundRequest(asked, coding), reply, chain);
        }
    }

    private void pass(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        HttpServletResponse reply = response;
        Body body = () -> { };
        if (coding != Coding.NONE) {
            response.setHeader("Vary", "Accept-Encoding");
            if (coding.isAccepted(Collections.list(request.getHeaders("Accept-Encoding")))) {
                response.setHeader("Content-Encoding", coding.token());
                PackedReply packed = new PackedReply(response, coding);
                reply = packed;
                body = packed;
            }
        }
        request.setAttribute(BODY, body);
        try {
            chain.doFilter(request, reply);
        } catch (BodyTooLong error) {
            reject(response, HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE, error);
            return;
        } catch (BrokenCoding error) {
            reject(response, HttpServletResponse.SC_BAD_REQUEST, error);
            return;
        }
        if (!request.isAsyncStarted()) {
            body.end();
        }
    }

    private void reject(HttpServletResponse response, int status, IOException error) throws IOException {
        response.reset();
        rejection.write(response, status, error.getMessage());
    }
}
