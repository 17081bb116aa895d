package wirelab.parse;

import java.io.ByteArrayInputStream;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.NamedNodeMap;
import org.w3c.dom.Node;
import org.xml.sax.ErrorHandler;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import org.xml.sax.SAXParseException;

/** DOM: a tree is built and then walked through. One builder for all documents. */
final class DomParser extends XmlParser {
    private final DocumentBuilder builder;

    DomParser(DocumentBuilderFactory factory) throws Exception {
        factory.setNamespaceAware(true);
        factory.setValidating(false);
        builder = factory.newDocumentBuilder();
        builder.setEntityResolver((publicId, systemId) -> {
            throw new Refused("the document has an external entity");
        });
        builder.setErrorHandler(new Strict());
    }

    @Override
    void read(byte[] document, Content content) throws Exception {
        Document tree = builder.parse(new InputSource(new ByteArrayInputStream(document)));
        if (tree.getDoctype() != null) {
            throw new Refused("the document has a document type declaration");
        }
        walk(tree.getDocumentElement(), content);
    }

    @Override
    public Class<?> implementation() {
        return builder.getClass();
    }

    /** Without recursion: a document may be nested deeper than a stack. */
    private static void walk(Node root, Content content) {
        Node node = root;
        while (node != null) {
            enter(node, content);
            Node next = node.getFirstChild();
            while (next == null && node != null) {
                if (node.getNodeType() == Node.ELEMENT_NODE) {
                    content.end();
                }
                next = node == root ? null : node.getNextSibling();
                node = next != null ? node : node == root ? null : node.getParentNode();
            }
            node = next;
        }
    }

    private static void enter(Node node, Content content) {
        switch (node.getNodeType()) {
            case Node.ELEMENT_NODE -> {
                content.start(orEmpty(node.getNamespaceURI()), node.getLocalName());
                NamedNodeMap attributes = node.getAttributes();
                for (int at = 0; at < attributes.getLength(); at++) {
                    Node attribute = attributes.item(at);
                    if (!attribute.getNodeName().equals(XMLConstants.XMLNS_ATTRIBUTE)
                            && !attribute.getNodeName().startsWith("xmlns:")) {
                        content.attribute(
                                orEmpty(attribute.getNamespaceURI()), attribute.getLocalName(), attribute.getNodeValue());
                    }
                }
            }
            case Node.TEXT_NODE, Node.CDATA_SECTION_NODE -> content.text(node.getNodeValue());
            default -> { }
        }
    }

    private static String orEmpty(String namespace) {
        return namespace == null ? "" : namespace;
    }

    /** Crimson and Xerces print errors where nothing handles them. */
    private static final class Strict implements ErrorHandler {
        @Override
        public void warning(SAXParseException warning) {}

        @Override
        public void error(SAXParseException error) throws SAXException {
            throw error;
        }

        @Override
        public void fatalError(SAXParseException error) throws SAXException {
            throw error;
        }
    }
}
