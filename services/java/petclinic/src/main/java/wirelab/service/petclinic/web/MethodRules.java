package wirelab.service.petclinic.web;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Set;

/** HEAD and OPTIONS are methods like any other: Spring would answer them by itself, the contract has 405. */
final class MethodRules extends HttpFilter {
    private static final long serialVersionUID = 1L;
    private static final Set<String> ANSWERED_BY_SPRING = Set.of("HEAD", "OPTIONS");

    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        chain.doFilter(ANSWERED_BY_SPRING.contains(request.getMethod()) ? new Unknown(request) : request, response);
    }

    private static final class Unknown extends HttpServletRequestWrapper {
        Unknown(HttpServletRequest request) {
            super(request);
        }

        /** None that Spring knows. */
        @Override
        public String getMethod() {
            return "WIRELAB-" + super.getMethod();
        }
    }
}
