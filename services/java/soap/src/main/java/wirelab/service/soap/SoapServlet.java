package wirelab.service.soap;

import jakarta.servlet.ServletConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.xml.bind.ValidationEvent;
import jakarta.xml.bind.ValidationEventHandler;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import javax.xml.namespace.QName;
import org.apache.cxf.Bus;
import org.apache.cxf.binding.soap.Soap11;
import org.apache.cxf.binding.soap.Soap12;
import org.apache.cxf.binding.soap.SoapVersion;
import org.apache.cxf.jaxb.JAXBDataBinding;
import org.apache.cxf.jaxws.JaxWsServerFactoryBean;
import org.apache.cxf.logging.FaultListener;
import org.apache.cxf.transport.servlet.CXFNonSpringServlet;
import org.apache.cxf.ws.security.SecurityConstants;
import wirelab.service.Calls;
import wirelab.service.Configuration;
import wirelab.service.contract.Lists;
import wirelab.service.contract.Model;
import wirelab.service.web.SoapRules;
import wirelab.service.wss.MessageSecurity;

/** CXF's servlet with the one endpoint of the contract. */
final class SoapServlet extends CXFNonSpringServlet {
    private static final long serialVersionUID = 1L;
    /** Puts the contract's namespace in the place of none (the JAXB reference implementation's property). */
    private static final String NAMESPACE = "org.glassfish.jaxb.defaultNamespaceRemap";
    /** CXF's own 50,000 would refuse a batch that the contract takes. With room for the other fields. */
    static final int CHILDREN_MAX = Lists.ITEMS_MAX + 100;

    private final transient Configuration configuration;
    private final transient Model model;
    private final transient Calls calls;
    private final transient ChosenParser parser;
    private final transient MessageSecurity security;
    private final transient SoapRules rules;

    /** {@code parser} is null where CXF takes its own, {@code security} where messages have none. */
    SoapServlet(
            Configuration configuration, Model model, Calls calls, ChosenParser parser, MessageSecurity security) {
        this.configuration = configuration;
        this.model = model;
        this.calls = calls;
        this.parser = parser;
        this.security = security;
        rules = new SoapRules(configuration.stack(), model);
    }

    @Override
    protected void loadBus(ServletConfig servlet) {
        super.loadBus(servlet);
        publish(getBus());
    }

    @Override
    public void service(ServletRequest request, ServletResponse response) throws ServletException, IOException {
        if (rules.admit((HttpServletRequest) request, (HttpServletResponse) response)) {
            super.service(request, response);
        }
    }

    private void publish(Bus bus) {
        boolean rpc = configuration.stack().codec().equals("soap-rpc");
        JAXBDataBinding jaxb = new JAXBDataBinding();
        jaxb.setContextProperties(Map.of(NAMESPACE, rpc ? "" : model.namespace()));
        JaxWsServerFactoryBean factory = new JaxWsServerFactoryBean();
        factory.setBus(bus);
        factory.setAddress(SoapRules.path(model));
        factory.setServiceClass(Interfaces.of(model, rpc));
        factory.setServiceName(new QName(model.namespace(), model.service()));
        factory.setBindingId(configuration.stack().soap().equals("1.2")
                ? "http://www.w3.org/2003/05/soap/bindings/HTTP/"
                : "http://schemas.xmlsoap.org/wsdl/soap/http");
        factory.setDataBinding(jaxb);
        factory.setInvoker(new ContractInvoker(model, calls, rpc));
        Map<String, Object> properties = new HashMap<>(Map.of(
                "org.apache.cxf.stax.maxChildElements", CHILDREN_MAX,
                JAXBDataBinding.READER_VALIDATION_EVENT_HANDLER, (ValidationEventHandler) SoapServlet::mayGoOn,
                // A token without a nonce has nothing that could be remembered.
                SecurityConstants.ENABLE_NONCE_CACHE, false,
                SecurityConstants.ENABLE_TIMESTAMP_CACHE, security != null,
                // A refused request is not logged.
                FaultListener.class.getName(), (FaultListener) (error, text, message) -> false));
        if (security != null) {
            properties.putAll(MessageSecurity.stores());
        }
        factory.setProperties(properties);
        intercept(factory);
        factory.create();
    }

    private void intercept(JaxWsServerFactoryBean factory) {
        SoapVersion version = configuration.stack().soap().equals("1.2") ? Soap12.getInstance() : Soap11.getInstance();
        factory.getInInterceptors().add(Utf8.newReader());
        if (parser != null) {
            factory.getInInterceptors().add(parser);
        }
        factory.getInInterceptors().add(new EnvelopeRules(version, model.namespace()));
        factory.getOutInterceptors().add(Utf8.newWriter());
        factory.getOutFaultInterceptors().add(Utf8.newWriter());
        factory.getOutFaultInterceptors().add(new FaultShape());
        if (configuration.store().username() != null) {
            factory.getInInterceptors().add(new Login(configuration.store()));
        }
        if (security != null) {
            security.intercept(factory);
        }
    }

    /** Unknown elements, which come without an exception, are ignored; a number that is none is not. */
    private static boolean mayGoOn(ValidationEvent event) {
        return event.getLinkedException() == null && event.getSeverity() != ValidationEvent.FATAL_ERROR;
    }
}
