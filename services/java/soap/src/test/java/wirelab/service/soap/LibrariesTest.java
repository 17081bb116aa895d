package wirelab.service.soap;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.StringReader;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.stream.XMLStreamReader;
import org.apache.catalina.connector.Connector;
import org.apache.cxf.binding.soap.SoapMessage;
import org.apache.cxf.jaxb.JAXBDataBinding;
import org.apache.cxf.phase.PhaseInterceptorChain;
import org.apache.cxf.staxutils.StaxUtils;
import org.apache.cxf.transport.servlet.CXFNonSpringServlet;
import org.apache.wss4j.dom.engine.WSSecurityEngine;
import org.glassfish.jaxb.runtime.v2.ContextFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import wirelab.service.Bench;

/** The rows of the ready line are the libraries that the classes of this module come from. */
class LibrariesTest {
    private static final String USER = "\"store\":{\"username\":\"u\",\"password\":\"p\"}";

    @ParameterizedTest
    @ValueSource(strings = {"soap-literal", "soap-rpc"})
    void serversAreTomcatAndCxf(String codec) throws Exception {
        List<String> servers = Stream.of(Connector.class, CXFNonSpringServlet.class, PhaseInterceptorChain.class)
                .map(server -> "server " + Bench.origin(server))
                .toList();
        assertEquals(servers, libraries(codec, "").subList(0, 3));
    }

    /** The parser is the one that CXF itself makes: Woodstox, although the JDK has one. */
    @Test
    void codecsAreTheBindingsTheJaxbRuntimeAndTheParserThatCxfMakes() throws Exception {
        XMLStreamReader parser = StaxUtils.createXMLStreamReader(new StringReader("<a/>"));
        List<String> codecs = Stream.of(
                        SoapMessage.class, JAXBDataBinding.class, ContextFactory.class, parser.getClass())
                .map(codec -> "codec " + Bench.origin(codec))
                .toList();
        List<String> rows = libraries("soap-literal", "");
        assertEquals(codecs, rows.subList(3, rows.size()));
    }

    @Test
    void credentialsAreReadByWss4j() throws Exception {
        List<String> rows = libraries("soap-literal", USER);
        assertEquals("codec " + Bench.origin(WSSecurityEngine.class), rows.get(rows.size() - 1));
    }

    private static List<String> libraries(String codec, String more) throws Exception {
        return Bench.libraries("{\"binding\":\"soap\",\"codec\":\"" + codec + "\"}", more);
    }
}
