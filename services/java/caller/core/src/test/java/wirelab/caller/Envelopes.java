package wirelab.caller;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.NamedNodeMap;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/** The envelopes of {@code contracts/vectors}, which are the engine's, and what an envelope says. */
public final class Envelopes {
    private static final String NAMES = "http://www.w3.org/2000/xmlns/";

    private Envelopes() {}

    /** The row of an operation of transfer. */
    public static JsonNode of(String operation, String codec, String soap) throws IOException {
        Path file = Path.of(System.getProperty("wirelab.contracts"), "vectors", "envelopes.json");
        for (JsonNode row : Plan.JSON.readTree(file.toFile())) {
            if (row.get("operation").asText().equals(operation) && row.get("codec").asText().equals(codec)
                    && row.get("soap").asText().equals(soap)
                    && row.get("action").asText().startsWith("urn:wirelab:transfer:")) {
                return row;
            }
        }
        throw new IOException("no envelope of " + operation + " in " + codec + " and SOAP " + soap);
    }

    /** Names with their namespaces, texts and attributes, without prefixes, declarations and encodingStyle. */
    public static String normalize(String envelope) throws IOException {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
            factory.setNamespaceAware(true);
            Document document = factory.newDocumentBuilder()
                    .parse(new ByteArrayInputStream(envelope.getBytes(StandardCharsets.UTF_8)));
            return normalize(document.getDocumentElement());
        } catch (ParserConfigurationException | SAXException error) {
            throw new IOException("no envelope: " + envelope, error);
        }
    }

    private static String normalize(Node node) {
        if (node.getNodeType() != Node.ELEMENT_NODE) {
            return node.getNodeValue();
        }
        TreeSet<String> attributes = new TreeSet<>();
        NamedNodeMap all = node.getAttributes();
        for (int at = 0; at < all.getLength(); at++) {
            Node one = all.item(at);
            if (!NAMES.equals(one.getNamespaceURI()) && !"encodingStyle".equals(one.getLocalName())) {
                attributes.add("{" + one.getNamespaceURI() + "}" + one.getLocalName() + "=" + one.getNodeValue());
            }
        }
        StringBuilder said = new StringBuilder("{" + node.getNamespaceURI() + "}" + node.getLocalName() + attributes);
        for (Node child = node.getFirstChild(); child != null; child = child.getNextSibling()) {
            said.append('(').append(normalize(child)).append(')');
        }
        return said.toString();
    }
}
