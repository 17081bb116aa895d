package wirelab.service;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/** The golden envelopes, put to a SOAP service. */
public final class Envelopes {
    private static final Set<String> APPLICATION_ERRORS = Set.of(
            "no such account", "not enough credit", "unknown reservation", "unknown confirmation",
            "amount must be positive", "balance must not exceed 2147483647");

    private Envelopes() {}

    /** Puts every request of a contract in that style and version; returns how many were answered. */
    public static int put(Bench bench, String contract, String codec, String soap) throws Exception {
        int answered = 0;
        for (Object each : (List<?>) Bench.vectors("envelopes.json")) {
            Map<?, ?> vector = (Map<?, ?>) each;
            String action = (String) vector.get("action");
            if (action.startsWith("urn:wirelab:" + contract + ":") && codec.equals(vector.get("codec"))
                    && soap.equals(vector.get("soap"))) {
                Bench.Reply reply = post(bench, contract, soap, action, (String) vector.get("request_envelope"));
                check(reply, (String) vector.get("reply_envelope"), action);
                answered++;
            }
        }
        return answered;
    }

    private static void check(Bench.Reply reply, String expected, String action) throws Exception {
        Element came = child(reply.text());
        Element like = child(expected);
        boolean same = reply.status() == 200
                && like.getLocalName().equals(came.getLocalName())
                && String.valueOf(like.getNamespaceURI()).equals(String.valueOf(came.getNamespaceURI()));
        // Numbers of an account's history mean nothing to a service that has just started.
        if (!same && !APPLICATION_ERRORS.contains(text(came))) {
            throw new AssertionError(action + " was answered with " + reply.status() + " " + reply.text());
        }
    }

    /** One call; the action is written as the version wants it. */
    public static Bench.Reply post(Bench bench, String contract, String soap, String action, String envelope)
            throws Exception {
        String fields = soap.equals("1.2")
                ? "Content-Type: application/soap+xml; charset=utf-8; action=\"" + action + "\""
                : "Content-Type: text/xml; charset=utf-8\r\nSOAPAction: \"" + action + "\"";
        return bench.http("POST /" + contract + "/soap HTTP/1.1\r\n" + fields, envelope.getBytes(StandardCharsets.UTF_8));
    }

    /** The text of the fault in an envelope. */
    public static String fault(Bench.Reply reply) throws Exception {
        Element fault = child(reply.text());
        if (!"Fault".equals(fault.getLocalName())) {
            throw new AssertionError("no fault: " + reply.text());
        }
        return text(fault);
    }

    private static String text(Element fault) {
        NodeList reasons = fault.getElementsByTagName("faultstring");
        NodeList texts = fault.getElementsByTagNameNS("http://www.w3.org/2003/05/soap-envelope", "Text");
        Node reason = reasons.getLength() > 0 ? reasons.item(0) : texts.item(0);
        return reason == null ? "" : reason.getTextContent();
    }

    /** The body's one child. */
    private static Element child(String envelope) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
        factory.setNamespaceAware(true);
        Element root = factory.newDocumentBuilder()
                .parse(new ByteArrayInputStream(envelope.getBytes(StandardCharsets.UTF_8)))
                .getDocumentElement();
        Node body = root.getElementsByTagNameNS(root.getNamespaceURI(), "Body").item(0);
        for (Node node = body.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element element) {
                return element;
            }
        }
        throw new AssertionError("an empty body: " + envelope);
    }
}
