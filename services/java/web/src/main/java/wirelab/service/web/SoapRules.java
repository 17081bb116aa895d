package wirelab.service.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import wirelab.service.Configuration;
import wirelab.service.contract.Model;

/** What SOAP's binding to HTTP asks of a request before its envelope is read. */
public final class SoapRules {
    private static final List<String> MEDIA_TYPES = List.of("text/xml", "application/soap+xml");

    private final String path;
    private final Description description;

    /** The rules of the one contract that a stack serves. */
    public SoapRules(Configuration.Stack stack, Model model) {
        path = path(model);
        description = new Description(stack, model);
    }

    /** True when the request is a call; else it has been answered. */
    public boolean admit(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (!request.getRequestURI().equals(path)) {
            ServletStack.reject(response, HttpServletResponse.SC_NOT_FOUND, "no such path");
        } else if (Description.isAsked(request)) {
            description.answer(request, response);
        } else if (!request.getMethod().equals("POST")) {
            response.setHeader("Allow", "GET, POST");
            ServletStack.reject(response, HttpServletResponse.SC_METHOD_NOT_ALLOWED,
                    "call with POST; GET ?wsdl returns the description");
        } else if (!MEDIA_TYPES.contains(MediaTypes.removeParameters(request.getContentType()))) {
            ServletStack.reject(response, HttpServletResponse.SC_UNSUPPORTED_MEDIA_TYPE, "only envelopes are read here");
        } else {
            return true;
        }
        return false;
    }

    /** Where a contract is called. */
    public static String path(Model model) {
        return "/" + model.contract() + "/soap";
    }
}
