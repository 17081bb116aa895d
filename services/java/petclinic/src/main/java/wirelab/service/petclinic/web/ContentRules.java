package wirelab.service.petclinic.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Collections;
import org.springframework.web.HttpMediaTypeNotAcceptableException;
import org.springframework.web.HttpMediaTypeNotSupportedException;
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
            throws HttpMediaTypeNotAcceptableException, HttpMediaTypeNotSupportedException {
        if (!Weights.of(Collections.list(request.getHeaders("Accept"))).accepts(messages.mediaType())) {
            throw new HttpMediaTypeNotAcceptableException("this service answers in " + messages.mediaType());
        }
        boolean hasBody = request.getMethod().equals("POST") || request.getMethod().equals("PUT");
        if (hasBody && !messages.mediaType().equals(MediaTypes.removeParameters(request.getContentType()))) {
            throw new HttpMediaTypeNotSupportedException("this service reads " + messages.mediaType());
        }
        return true;
    }
}
