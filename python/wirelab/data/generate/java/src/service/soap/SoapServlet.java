package service.soap;

import contract.PlainOperation;
import contract.SoapPort;
import jakarta.servlet.ServletConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.xml.bind.ValidationEvent;
import jakarta.xml.bind.ValidationEventHandler;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import javax.xml.namespace.QName;
import org.apache.cxf.Bus;
import org.apache.cxf.binding.soap.Soap11;
import org.apache.cxf.jaxb.JAXBDataBinding;
import org.apache.cxf.jaxws.JaxWsServerFactoryBean;
import org.apache.cxf.logging.FaultListener;
import org.apache.cxf.transport.servlet.CXFNonSpringServlet;
import service.Answers;
import service.web.MediaTypes;

/** CXF's servlet with the one endpoint of the contract. */
final class SoapServlet extends CXFNonSpringServlet {
    private static final long serialVersionUID = 1L;
    private static final String PATH = "/soap";
    private static final List<String> MEDIA_TYPES = List.of("text/xml", "application/soap+xml");

    private final transient Answers<?, ?> answers;

    SoapServlet(Answers<?, ?> answers) {
        this.answers = answers;
    }

    @Override
    protected void loadBus(ServletConfig servlet) {
        super.loadBus(servlet);
        publish(getBus());
    }

    @Override
    public void service(ServletRequest request, ServletResponse response) throws ServletException, IOException {
        if (admit((HttpServletRequest) request, (HttpServletResponse) response)) {
            super.service(request, response);
        }
    }

    /** True when the request is a call; else it has been answered. */
    private static boolean admit(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (!request.getRequestURI().equals(PATH)) {
            SoapServer.reject(response, HttpServletResponse.SC_NOT_FOUND, "no such path");
        } else if (!request.getMethod().equals("POST")) {
            response.setHeader("Allow", "POST");
            SoapServer.reject(response, HttpServletResponse.SC_METHOD_NOT_ALLOWED, "call with POST");
        } else if (!MEDIA_TYPES.contains(MediaTypes.removeParameters(request.getContentType()))) {
            SoapServer.reject(response, HttpServletResponse.SC_UNSUPPORTED_MEDIA_TYPE, "only envelopes are read here");
        } else {
            return true;
        }
        return false;
    }

    private void publish(Bus bus) {
        JaxWsServerFactoryBean factory = new JaxWsServerFactoryBean();
        factory.setBus(bus);
        factory.setAddress(PATH);
        factory.setServiceClass(SoapPort.class);
        factory.setServiceName(new QName(PlainOperation.NAMESPACE, PlainOperation.SERVICE));
        factory.setBindingId("http://schemas.xmlsoap.org/wsdl/soap/http");
        factory.setDataBinding(new JAXBDataBinding());
        factory.setInvoker(new OperationInvoker(answers));
        factory.setProperties(Map.of(
                // The bound of the body is the limit; CXF's own is 50,000.
                "org.apache.cxf.stax.maxChildElements", Integer.MAX_VALUE,
                JAXBDataBinding.READER_VALIDATION_EVENT_HANDLER, (ValidationEventHandler) SoapServlet::mayContinue,
                // A rejected request is not logged.
                FaultListener.class.getName(), (FaultListener) (error, text, message) -> false));
        factory.getInInterceptors().add(Utf8.newReader());
        factory.getInInterceptors().add(new EnvelopeRules(Soap11.getInstance(), PlainOperation.NAMESPACE));
        factory.getInInterceptors().add(new EnvelopeEnd());
        factory.getOutInterceptors().add(Utf8.newWriter());
        factory.getOutFaultInterceptors().add(Utf8.newWriter());
        factory.getOutFaultInterceptors().add(new FaultShape());
        factory.create();
    }

    /** Unknown elements, which come without an exception, are ignored; a text that is not a number is not. */
    private static boolean mayContinue(ValidationEvent event) {
        return event.getLinkedException() == null && event.getSeverity() != ValidationEvent.FATAL_ERROR;
    }
}
