package wirelab.caller.soap;

import com.ctc.wstx.stax.WstxInputFactory;
import com.ctc.wstx.stax.WstxOutputFactory;
import java.net.HttpURLConnection;
import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLOutputFactory;
import org.apache.cxf.binding.soap.SoapMessage;
import org.apache.cxf.jaxb.JAXBDataBinding;
import org.apache.cxf.jaxws.JaxWsProxyFactoryBean;
import org.apache.cxf.transport.http.HTTPConduit;
import org.apache.cxf.transport.http.HTTPException;
import org.apache.wss4j.dom.engine.WSSecurityEngine;
import org.apache.xml.security.Init;
import org.glassfish.jaxb.runtime.v2.runtime.JAXBContextImpl;
import wirelab.caller.Client;
import wirelab.caller.Connections;
import wirelab.caller.Failure;
import wirelab.caller.Library;
import wirelab.caller.Target;

/**
 * The stubs and proxies of Apache CXF over the HttpClient of the JDK, CXF's own choice. There CXF drops the
 * header Connection, so that calls with a connection each go over CXF's other transport, HttpURLConnection.
 */
public final class SoapLibrary implements Library {
    /** Log every failed call, which is data here. */
    private static final List<Logger> QUIET = List.of(
            Logger.getLogger("org.apache.cxf.phase.PhaseInterceptorChain"),
            Logger.getLogger("org.apache.cxf.ws.security"),
            Logger.getLogger("org.apache.wss4j"),
            Logger.getLogger("org.apache.xml.security"));

    private Client shared;

    @Override
    public Map<String, Set<String>> able() {
        return Map.of(
                "binding", Set.of("soap"), "codec", Set.of("soap-literal", "soap-rpc"), "soap", Set.of("1.1", "1.2"),
                "transport", Set.of("http/1.1"), "connection", Set.of("keep", "close"),
                "ws_security",
                Set.of("none", "username-token", "signature", "encryption", "signature-encryption"));
    }

    @Override
    public Map<String, String> stamps() {
        return Map.of(
                "intended", "schedule",
                "sent", "the proxy was called",
                "flushed", "unavailable",
                "first_byte", "Phase.RECEIVE of CXF's in chain",
                "done", "the proxy returned");
    }

    @Override
    public List<Class<?>> classes(Target target) {
        List<Class<?>> all = new ArrayList<>(List.of(
                JaxWsProxyFactoryBean.class, SoapMessage.class, HTTPConduit.class,
                target.closes() ? HttpURLConnection.class : HttpClient.class, JAXBDataBinding.class,
                JAXBContextImpl.class, WstxInputFactory.class));
        if (target.secrets() != null) {
            all.add(WSSecurityEngine.class);
        }
        if (target.secrets() != null && target.secrets().keystore() != null) {
            all.add(Init.class);
        }
        return all;
    }

    /**
     * One for all users, as CXF means it: a proxy is expensive to make and may be called by many threads. The
     * pool of HttpClient has a connection for each call under way.
     */
    @Override
    public synchronized Client client(Target target, Connections connections) {
        if (shared == null) {
            QUIET.forEach(logger -> logger.setLevel(Level.OFF));
            // JAXP would take the first parser on the class path.
            System.setProperty(XMLInputFactory.class.getName(), WstxInputFactory.class.getName());
            System.setProperty(XMLOutputFactory.class.getName(), WstxOutputFactory.class.getName());
            shared = new SoapClient(target);
        }
        return shared;
    }

    @Override
    public Failure failure(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof HTTPException status) {
                return Failure.application("status " + status.getResponseCode());
            }
            if (isOfEndedConnection(cause)) {
                return Failure.closed("the connection ended while CXF still sent: " + cause);
            }
        }
        return null;
    }

    /**
     * Where a connection ends while its request is sent, CXF 4.1 at times closes a body that it has
     * not begun yet.
     */
    private static boolean isOfEndedConnection(Throwable cause) {
        StackTraceElement[] trace = cause.getStackTrace();
        return cause instanceof NullPointerException && trace.length > 0
                && trace[0].getClassName().startsWith("org.apache.cxf.transport.http.HttpClientHTTPConduit");
    }
}
