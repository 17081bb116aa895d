package wirelab.service.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import wirelab.service.contract.Model;

/** What SOAP's binding to HTTP asks of a request before its envelope is read. */
public final class SoapRules {
    private static final List<String> MEDIA_TYPES = List.of("text/xml", "application/soap+xml");

    private SoapRules() {}

    /** True when the request is a call; else it has been answered. */
    public static boolean admit(Model model, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        if (!request.getRequestURI().equals(path(model))) {
            ServletStack.reject(response, HttpServletResponse.SC_NOT_FOUND, "no such path");
        } else if (!request.getMethod().equals("POST")) {
            response.setHeader("Allow", "POST");
            ServletStack.reject(response, HttpServletResponse.SC_METHOD_NOT_ALLOWED, "call with POST");
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
