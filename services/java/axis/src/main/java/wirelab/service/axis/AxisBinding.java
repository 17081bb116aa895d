package wirelab.service.axis;

import java.io.IOException;
import java.util.List;
import javax.xml.namespace.QName;
import org.apache.axis.AxisEngine;
import org.apache.axis.Constants;
import org.apache.axis.configuration.SimpleProvider;
import org.apache.axis.constants.Style;
import org.apache.axis.constants.Use;
import org.apache.axis.description.ServiceDesc;
import org.apache.axis.encoding.TypeMapping;
import org.apache.axis.encoding.TypeMappingRegistry;
import org.apache.axis.encoding.TypeMappingRegistryImpl;
import org.apache.axis.encoding.ser.Base64SerializerFactory;
import org.apache.axis.encoding.ser.BeanDeserializerFactory;
import org.apache.axis.encoding.ser.BeanSerializerFactory;
import org.apache.axis.encoding.ser.SimpleSerializerFactory;
import org.apache.axis.handlers.soap.SOAPService;
import org.apache.axis.server.AxisServer;
import wirelab.service.Binding;
import wirelab.service.Calls;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Model;
import wirelab.service.web.ReportedSetting;
import wirelab.service.web.ServletStack;
import wirelab.service.web.SoapRules;
import wirelab.service.web.WebServer;

/**
 * SOAP rpc/encoded on Axis 1.4, for the historical rows alone: nobody maintains it, it has known
 * vulnerabilities, and this service listens on loopback and the lab's links only.
 */
public final class AxisBinding implements Binding {
    /** As CXF has it. The JDK's parser by itself has no limit, and Axis takes over ten seconds for 100,000. */
    static final int DEPTH_MAX = 100;

    @Override
    public List<String> codecWorkers(Configuration.Stack stack) {
        return List.of("org.apache.axis.server.AxisServer", SaxParsers.factoryClass(stack.parser()));
    }

    @Override
    public Running start(Configuration configuration, Model model, Calls calls) throws Refusal, IOException {
        System.setProperty("jdk.xml.maxElementDepth", Integer.toString(DEPTH_MAX));
        String parser = configuration.stack().parser();
        SaxParsers.use(parser);
        ContractProvider provider = new ContractProvider(model, calls);
        SOAPService service = new SOAPService(provider);
        service.setName(model.service());
        TypeMappingRegistryImpl types = new TypeMappingRegistryImpl();
        // Of JAX-RPC 1.1: texts are xsd:string, not soapenc:string.
        types.doRegisterFromVersion("1.1");
        describe(service, provider, types, model);
        SimpleProvider deployment = new SimpleProvider(types);
        deployment.deployService(model.service(), service);
        AxisServer engine = new AxisServer(deployment);
        // Values where they belong, as in the study's messages, not behind references.
        engine.setOption(AxisEngine.PROP_DOMULTIREFS, Boolean.FALSE);
        engine.setOption(AxisEngine.PROP_DISABLE_PRETTY_XML, Boolean.TRUE);
        service.setEngine(engine);
        SoapRules rules = new SoapRules(configuration.stack(), model);
        EncodedServlet servlet = new EncodedServlet(rules, engine, service, Login.of(configuration.store()));
        WebServer server = WebServer.start(configuration, calls, servlet, ServletStack::reject);
        ServletStack stack = new ServletStack(configuration, model, server);
        return parser.equals(Configuration.Stack.DEFAULT_PARSER)
                ? stack
                : new ReportedSetting(stack, "parser", () -> LimitedParser.used().getName());
    }

    private static void describe(
            SOAPService service, ContractProvider provider, TypeMappingRegistry types, Model model) {
        ServiceDesc description = new ConcurrentDescription();
        service.setServiceDescription(description);
        description.setName(model.service());
        description.setStyle(Style.RPC);
        description.setUse(Use.ENCODED);
        description.setTypeMappingRegistry(types);
        TypeMapping mapping = types.getOrMakeTypeMapping(Constants.URI_SOAP11_ENC);
        mapping.register(byte[].class, Constants.XSD_BASE64,
                new Base64SerializerFactory(byte[].class, Constants.XSD_BASE64),
                new StrictDeserializer.Factory(byte[].class, Constants.XSD_BASE64));
        mapping.register(boolean.class, Constants.XSD_BOOLEAN,
                new SimpleSerializerFactory(boolean.class, Constants.XSD_BOOLEAN),
                new StrictDeserializer.Factory(boolean.class, Constants.XSD_BOOLEAN));
        for (Exchange<?, ?> exchange : provider.exchanges()) {
            for (Class<?> message : List.of(exchange.request(), exchange.reply())) {
                Fields.of(message).stream().map(Fields::struct).filter(struct -> struct != null)
                        .forEach(struct -> register(mapping, struct, model.namespace()));
            }
            description.addOperationDesc(provider.describe(exchange));
        }
        description.setTypeMapping(mapping);
    }

    private static void register(TypeMapping mapping, Class<?> struct, String namespace) {
        QName name = new QName(namespace, struct.getSimpleName());
        mapping.register(struct, name, new BeanSerializerFactory(struct, name), new BeanDeserializerFactory(struct, name));
    }
}
