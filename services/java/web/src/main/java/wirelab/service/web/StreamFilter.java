package wirelab.service.web;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import wirelab.service.Configuration;

/** The bodies of streams: passed on as they come, without a content coding. */
public final class StreamFilter implements Filter {
    private final boolean http2;
    private final BodyFilter.Rejection rejection;

    /** Refuses what the stack does not have. */
    public StreamFilter(Configuration.Stack stack, BodyFilter.Rejection rejection) {
        http2 = stack.transport().equals("http/2");
        this.rejection = rejection;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        HttpServletRequest asked = (HttpServletRequest) request;
        HttpServletResponse reply = (HttpServletResponse) response;
        String encoding = asked.getHeader("Content-Encoding");
        if (http2 && !asked.getProtocol().startsWith("HTTP/2")) {
            rejection.write(reply, HttpServletResponse.SC_HTTP_VERSION_NOT_SUPPORTED, "this service speaks HTTP/2");
        } else if (encoding != null && !encoding.equalsIgnoreCase("identity")) {
            rejection.write(reply, HttpServletResponse.SC_UNSUPPORTED_MEDIA_TYPE,
                    "this service does not read content coding " + encoding);
        } else {
            chain.doFilter(request, response);
        }
    }
}
