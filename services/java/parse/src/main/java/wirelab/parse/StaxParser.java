package wirelab.parse;

import java.io.ByteArrayInputStream;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamReader;

/** StAX: a reader per document from one factory. */
final class StaxParser extends XmlParser {
    private final XMLInputFactory factory;
    private Class<?> implementation;

    StaxParser(XMLInputFactory factory) {
        this.factory = factory;
        implementation = factory.getClass();
        factory.setProperty(XMLInputFactory.IS_NAMESPACE_AWARE, true);
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
    }

    @Override
    void read(byte[] document, Content content) throws Exception {
        XMLStreamReader reader = factory.createXMLStreamReader(new ByteArrayInputStream(document));
        implementation = reader.getClass();
        try {
            while (reader.hasNext()) {
                pass(reader, reader.next(), content);
            }
        } finally {
            reader.close();
        }
    }

    @Override
    public Class<?> implementation() {
        return implementation;
    }

    private static void pass(XMLStreamReader reader, int event, Content content) throws Refused {
        switch (event) {
            case XMLStreamConstants.START_ELEMENT -> {
                content.start(orEmpty(reader.getNamespaceURI()), reader.getLocalName());
                for (int at = 0; at < reader.getAttributeCount(); at++) {
                    content.attribute(
                            orEmpty(reader.getAttributeNamespace(at)),
                            reader.getAttributeLocalName(at),
                            reader.getAttributeValue(at));
                }
            }
            case XMLStreamConstants.CHARACTERS, XMLStreamConstants.CDATA, XMLStreamConstants.SPACE -> content.text(
                    reader.getTextCharacters(), reader.getTextStart(), reader.getTextLength());
            case XMLStreamConstants.END_ELEMENT -> content.end();
            case XMLStreamConstants.DTD -> throw new Refused("the document has a document type declaration");
            case XMLStreamConstants.ENTITY_REFERENCE -> throw new Refused("the document has an unknown entity");
            default -> { }
        }
    }

    private static String orEmpty(String namespace) {
        return namespace == null ? "" : namespace;
    }
}
