package wirelab.service.petclinic.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import org.springframework.web.servlet.HandlerInterceptor;
import wirelab.service.petclinic.message.Messages;
import wirelab.service.web.MediaTypes;
import wirelab.service.web.Weights;

/** Refuses what the one codec of the stack can neither write nor read, before an operation is called. */
final class ContentRules implements HandlerInterceptor {
    private final Messages messages;

    ContentRules(Messages messages) {
        this.messages = messages;
    }

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
            throws IOException {
        if (!Weights.of(Collections.list(request.getHeaders("Accept"))).accepts(messages.mediaType())) {
            return refuse(response, HttpServletResponse.SC_NOT_ACCEPTABLE,
                    "this service answers in " + messages.mediaType());
        }
        boolean hasBody = request.getMethod().equals("POST") || request.getMethod().equals("PUT");
        if (hasBody && !messages.mediaType().equals(MediaTypes.withoutParameters(request.getContentType()))) {
            return refuse(response, HttpServletResponse.SC_UNSUPPORTED_MEDIA_TYPE,
                    "this service reads " + messages.mediaType());
        }
        return true;
    }

    private boolean refuse(HttpServletResponse response, int status, String text) throws IOException {
        response.setStatus(status);
        response.setContentType(messages.mediaType());
        response.getOutputStream().write(messages.error(text));
        return false;
    }
}
