package wirelab.parse;

import java.io.ByteArrayInputStream;
import javax.xml.XMLConstants;
import javax.xml.parsers.SAXParserFactory;
import org.xml.sax.Attributes;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import org.xml.sax.SAXParseException;
import org.xml.sax.XMLReader;
import org.xml.sax.ext.DefaultHandler2;

/** SAX: one reader for all documents. A document type declaration ends it with an error. */
final class SaxParser extends XmlParser {
    private static final String LEXICAL_HANDLER = "http://xml.org/sax/properties/lexical-handler";

    private final XMLReader reader;

    SaxParser(SAXParserFactory factory) throws Exception {
        factory.setNamespaceAware(true);
        factory.setValidating(false);
        reader = factory.newSAXParser().getXMLReader();
    }

    @Override
    void read(byte[] document, Content content) throws Exception {
        Handler handler = new Handler(content);
        reader.setContentHandler(handler);
        reader.setErrorHandler(handler);
        reader.setEntityResolver(handler);
        reader.setProperty(LEXICAL_HANDLER, handler);
        reader.parse(new InputSource(new ByteArrayInputStream(document)));
    }

    @Override
    public Class<?> implementation() {
        return reader.getClass();
    }

    private static final class Handler extends DefaultHandler2 {
        private final Content content;

        Handler(Content content) {
            this.content = content;
        }

        @Override
        public void startDTD(String name, String publicId, String systemId) throws SAXException {
            throw new Refused("the document has a document type declaration");
        }

        @Override
        public InputSource resolveEntity(String publicId, String systemId) throws SAXException {
            throw new Refused("the document has an external entity");
        }

        @Override
        public InputSource resolveEntity(String name, String publicId, String base, String systemId) throws SAXException {
            throw new Refused("the document has an external entity");
        }

        @Override
        public void error(SAXParseException error) throws SAXException {
            throw error;
        }

        @Override
        public void startElement(String uri, String localName, String qName, Attributes attributes) {
            content.start(uri, localName);
            for (int at = 0; at < attributes.getLength(); at++) {
                String name = attributes.getQName(at);
                if (!name.equals(XMLConstants.XMLNS_ATTRIBUTE) && !name.startsWith("xmlns:")) {
                    content.attribute(attributes.getURI(at), attributes.getLocalName(at), attributes.getValue(at));
                }
            }
        }

        @Override
        public void characters(char[] characters, int start, int length) {
            content.text(characters, start, length);
        }

        @Override
        public void endElement(String uri, String localName, String qName) {
            content.end();
        }
    }
}
