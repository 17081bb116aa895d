package service.soap;

import com.ctc.wstx.stax.WstxEventFactory;
import com.ctc.wstx.stax.WstxInputFactory;
import com.ctc.wstx.stax.WstxOutputFactory;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.xml.stream.XMLEventFactory;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLOutputFactory;
import service.Answers;
import service.Options;
import service.web.WebServer;

/** SOAP 1.1 document/literal on Apache CXF in an embedded Tomcat. */
public final class SoapServer {
    /** Logs a WSDL that is never served. */
    private static final Logger WSDL = Logger.getLogger("org.apache.cxf.wsdl.service.factory");

    private SoapServer() {}

    /** Listens, and answers from then on. */
    public static void start(Options options, Answers<?, ?> answers) throws IOException {
        WSDL.setLevel(Level.OFF);
        // JAXP would take the first parser on the class path.
        System.setProperty(XMLInputFactory.class.getName(), WstxInputFactory.class.getName());
        System.setProperty(XMLOutputFactory.class.getName(), WstxOutputFactory.class.getName());
        System.setProperty(XMLEventFactory.class.getName(), WstxEventFactory.class.getName());
        WebServer.start(options, new SoapServlet(answers), SoapServer::reject);
    }

    /** What is wrong with the HTTP itself is reported in plain text. */
    static void reject(HttpServletResponse response, int status, String text) throws IOException {
        response.setStatus(status);
        response.setContentType("text/plain;charset=utf-8");
        response.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    }
}
