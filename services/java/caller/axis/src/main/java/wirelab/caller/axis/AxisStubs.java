package wirelab.caller.axis;

import java.net.MalformedURLException;
import java.net.URL;
import java.util.Hashtable;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.SAXParserFactory;
import javax.xml.rpc.ServiceException;
import org.apache.axis.AxisEngine;
import org.apache.axis.AxisProperties;
import org.apache.axis.Handler;
import org.apache.axis.MessageContext;
import org.apache.axis.SimpleTargetedChain;
import org.apache.axis.client.Stub;
import org.apache.axis.configuration.SimpleProvider;
import org.apache.axis.handlers.BasicHandler;
import org.apache.axis.transport.http.CommonsHTTPSender;
import org.apache.axis.transport.http.HTTPConstants;
import org.apache.axis.transport.http.HTTPSender;
import org.apache.commons.httpclient.DefaultHttpMethodRetryHandler;
import org.apache.commons.httpclient.params.DefaultHttpParams;
import org.apache.commons.httpclient.params.HttpMethodParams;
import wirelab.caller.Stamps;
import wirelab.caller.Target;
import wirelab.caller.axis.encoded.TransferServiceLocator;

/** Makes the stubs of all users on one engine of Axis, whose transport they share. */
final class AxisStubs {
    /** Of a stub and of the messages that it sends. */
    static final String STAMPS = Stamps.class.getName();

    /** Axis takes no more than 2 per host by itself, and further users would wait for them. */
    private static final String CONNECTIONS_MAX = "1000000";

    private final Target target;
    private final TransferServiceLocator service;

    AxisStubs(Target target) {
        this.target = target;
        // JAXP would take the first parser on the class path.
        System.setProperty(SAXParserFactory.class.getName(),
                SAXParserFactory.newDefaultInstance().getClass().getName());
        System.setProperty(DocumentBuilderFactory.class.getName(),
                DocumentBuilderFactory.newDefaultInstance().getClass().getName());
        AxisProperties.setProperty("axis.http.client.maximum.total.connections", CONNECTIONS_MAX);
        AxisProperties.setProperty("axis.http.client.maximum.connections.per.host", CONNECTIONS_MAX);
        AxisProperties.setProperty("axis.client.connect.timeout", String.valueOf(timeoutMs()));
        // A call that failed is counted, not made again.
        DefaultHttpParams.getDefaultParams()
                .setParameter(HttpMethodParams.RETRY_HANDLER, new DefaultHttpMethodRetryHandler(0, false));
        SimpleProvider deployment = new SimpleProvider();
        Handler sender = isHttp10(target) ? new HTTPSender() : new CommonsHTTPSender();
        deployment.deployTransport("http", new SimpleTargetedChain(null, sender, new Stamping()));
        service = new TransferServiceLocator(deployment);
    }

    static boolean isHttp10(Target target) {
        return target.axis("transport", "http/1.1").equals("http/1.0");
    }

    private int timeoutMs() {
        return (int) Math.min(Math.max(target.timeout().toMillis(), 1), Integer.MAX_VALUE);
    }

    /** The stub of one user; Axis's stubs are for one thread at a time. */
    Stub stub() {
        try {
            Stub stub = (Stub) service.getTransferSoap11(new URL("http://" + target.address() + "/transfer/soap"));
            stub.setTimeout(timeoutMs());
            stub._setProperty(AxisEngine.PROP_DISABLE_PRETTY_XML, Boolean.TRUE);
            if (!isHttp10(target)) {
                stub._setProperty(MessageContext.HTTP_TRANSPORT_VERSION, HTTPConstants.HEADER_PROTOCOL_V11);
                stub._setProperty(HTTPConstants.REQUEST_HEADERS, headers());
            }
            return stub;
        } catch (MalformedURLException | ServiceException impossible) {
            throw new IllegalStateException("no stub for " + target.address(), impossible);
        }
    }

    private Hashtable<String, String> headers() {
        Hashtable<String, String> headers = new Hashtable<>();
        // No header: Axis's switch for requests with a Content-Length.
        headers.put(HTTPConstants.HEADER_TRANSFER_ENCODING_CHUNKED, "false");
        if (target.closes()) {
            headers.put(HTTPConstants.HEADER_CONNECTION, HTTPConstants.HEADER_CONNECTION_CLOSE);
        }
        return headers;
    }

    /** Stamps the reply, whose status and headers are there. */
    private static final class Stamping extends BasicHandler {
        private static final long serialVersionUID = 1L;

        @Override
        public void invoke(MessageContext context) {
            if (context.getProperty(STAMPS) instanceof Stamps at) {
                at.firstByte();
            }
        }
    }
}
