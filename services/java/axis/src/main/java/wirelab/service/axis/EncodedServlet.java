package wirelab.service.axis;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import javax.xml.soap.SOAPException;
import org.apache.axis.AxisFault;
import org.apache.axis.Message;
import org.apache.axis.MessageContext;
import org.apache.axis.handlers.soap.SOAPService;
import org.apache.axis.message.SOAPEnvelope;
import org.apache.axis.server.AxisServer;
import org.apache.axis.soap.SOAPConstants;
import wirelab.service.web.SoapRules;

/** Hands envelopes to Axis's engine. Axis's own servlet is of an older Servlet API than today's Tomcat. */
final class EncodedServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    private final transient SoapRules rules;
    private final transient AxisServer engine;
    private final transient SOAPService service;
    private final transient Login login;

    /** {@code login} is null where nobody needs to say who they are. */
    EncodedServlet(SoapRules rules, AxisServer engine, SOAPService service, Login login) {
        this.rules = rules;
        this.engine = engine;
        this.service = service;
        this.login = login;
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (rules.admit(request, response)) {
            answer(request, response);
        }
    }

    private void answer(HttpServletRequest request, HttpServletResponse response) throws IOException {
        MessageContext context = new MessageContext(engine);
        Message reply;
        try {
            reply = reply(context, request);
        } catch (AxisFault fault) {
            response.setStatus(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
            context.setSOAPConstants(SOAPConstants.SOAP11_CONSTANTS);
            reply = new Message(Faults.shape(fault));
            reply.setMessageContext(context);
        }
        response.setContentType("text/xml;charset=utf-8");
        try {
            reply.writeTo(response.getOutputStream());
        } catch (SOAPException error) {
            throw new IOException("a reply that cannot be written", error);
        }
    }

    private Message reply(MessageContext context, HttpServletRequest request) throws AxisFault, IOException {
        // Read whole, so that a truncated body is not reported as an error of XML.
        byte[] body = request.getInputStream().readAllBytes();
        Message message = new Message(body, false, request.getContentType(), null);
        context.setService(service);
        context.setRequestMessage(message);
        context.setUseSOAPAction(true);
        context.setSOAPActionURI(removeQuotes(request.getHeader("SOAPAction")));
        SOAPEnvelope envelope = message.getSOAPEnvelope();
        if (envelope.getSOAPConstants() != SOAPConstants.SOAP11_CONSTANTS) {
            throw Faults.of("VersionMismatch", "this service speaks SOAP 1.1");
        }
        if (login != null) {
            login.check(envelope);
        }
        engine.invoke(context);
        return context.getResponseMessage();
    }

    private static String removeQuotes(String action) {
        return action == null ? null : action.strip().replaceAll("^\"|\"$", "");
    }
}
