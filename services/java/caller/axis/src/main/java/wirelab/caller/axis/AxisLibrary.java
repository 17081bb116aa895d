package wirelab.caller.axis;

import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.xml.parsers.SAXParserFactory;
import org.apache.axis.AxisFault;
import org.apache.axis.client.Call;
import org.apache.commons.httpclient.HttpClient;
import org.apache.commons.httpclient.NoHttpResponseException;
import org.xml.sax.SAXException;
import wirelab.caller.Client;
import wirelab.caller.Connections;
import wirelab.caller.Failure;
import wirelab.caller.Library;
import wirelab.caller.Target;

/**
 * The stubs of Axis 1.4. Its own sender speaks HTTP/1.0 with a connection per call; connections that are
 * kept are those of Commons HttpClient, which Axis comes with a second sender for.
 */
public final class AxisLibrary implements Library {
    private AxisStubs stubs;

    @Override
    public Map<String, Set<String>> able() {
        return Map.of(
                "binding", Set.of("soap"), "codec", Set.of("soap-encoded"), "soap", Set.of("1.1"),
                "transport", Set.of("http/1.1", "http/1.0"), "connection", Set.of("keep", "close"));
    }

    @Override
    public Map<String, String> stamps() {
        return Map.of(
                "intended", "schedule",
                "sent", "the stub was called",
                "flushed", "unavailable",
                "first_byte", "response handler of Axis's transport",
                "done", "the stub returned");
    }

    @Override
    public List<Class<?>> classes(Target target) {
        List<Class<?>> found = new ArrayList<>(
                List.of(Call.class, SAXParserFactory.newDefaultInstance().getClass()));
        if (!AxisStubs.isHttp10(target)) {
            found.add(HttpClient.class);
        }
        return found;
    }

    @Override
    public synchronized Client client(Target target, Connections connections) {
        if (stubs == null) {
            stubs = new AxisStubs(target);
        }
        return new AxisClient(target, stubs.stub());
    }

    /** Every failure is an AxisFault; one that the service did not send has its cause. */
    @Override
    public Failure failure(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof SAXException) {
                return Failure.wrong("the reply cannot be decoded: " + cause.getMessage());
            }
            if (cause instanceof NoHttpResponseException) {
                return Failure.closed(cause.toString());
            }
            if (cause instanceof InterruptedIOException) {
                return Failure.timeout(cause.toString());
            }
        }
        return error instanceof AxisFault fault && fault.getCause() == null
                ? Failure.application(fault.getFaultString())
                : null;
    }
}
