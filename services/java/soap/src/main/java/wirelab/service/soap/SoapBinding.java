package wirelab.service.soap;

import java.io.IOException;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import wirelab.service.Binding;
import wirelab.service.Calls;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.contract.Model;
import wirelab.service.web.ReportedSetting;
import wirelab.service.web.ServletStack;
import wirelab.service.web.WebServer;
import wirelab.service.wss.Keys;
import wirelab.service.wss.MessageSecurity;

/** SOAP, document/literal and rpc/literal, on Apache CXF in an embedded Tomcat. */
public final class SoapBinding implements Binding {
    /** Log CXF's own WSDL, which is not the one that is served, every refused login and every refused message. */
    private static final List<Logger> QUIET = List.of(
            Logger.getLogger("org.apache.cxf.wsdl.service.factory"),
            Logger.getLogger("org.apache.cxf.ws.security"),
            Logger.getLogger("org.apache.wss4j"),
            Logger.getLogger("org.apache.xml.security"));

    @Override
    public List<String> codecWorkers(Configuration.Stack stack) {
        return List.of(
                "org.apache.cxf.binding.soap.SoapMessage",
                "org.apache.cxf.jaxb.JAXBDataBinding",
                "org.glassfish.jaxb.runtime.v2.runtime.JAXBContextImpl",
                StaxParsers.factoryClass(stack.parser()).getName());
    }

    @Override
    public Running start(Configuration configuration, Model model, Calls calls) throws Refusal, IOException {
        QUIET.forEach(logger -> logger.setLevel(Level.OFF));
        StaxParsers.pinCxfToWoodstox();
        String name = configuration.stack().parser();
        ChosenParser parser = name.equals(Configuration.Stack.DEFAULT_PARSER)
                ? null
                : new ChosenParser(name, SoapServlet.CHILDREN_MAX);
        MessageSecurity security = secure(configuration);
        SoapServlet servlet = new SoapServlet(configuration, model, calls, parser, security);
        WebServer server = WebServer.start(configuration, calls, servlet, ServletStack::reject);
        Running stack = new ServletStack(configuration, model, server);
        if (parser != null) {
            stack = new ReportedSetting(stack, "parser", () -> parser.used().getName());
        }
        return security == null ? stack : new ReportedSetting(stack, "ws_security", security::algorithms);
    }

    /** Null where messages are neither signed nor encrypted. */
    private static MessageSecurity secure(Configuration configuration) throws IOException {
        Configuration.Stack stack = configuration.stack();
        if (!stack.hasKeys()) {
            return null;
        }
        Configuration.Keystore file = configuration.keystore();
        return new MessageSecurity(stack.wsSecurity(), stack.soap(), Keys.ofService(file.path(), file.password()));
    }
}
