package wirelab.service.axis;

import java.io.IOException;
import javax.xml.parsers.SAXParser;
import org.xml.sax.Attributes;
import org.xml.sax.InputSource;
import org.xml.sax.Parser;
import org.xml.sax.SAXException;
import org.xml.sax.SAXNotRecognizedException;
import org.xml.sax.SAXNotSupportedException;
import org.xml.sax.XMLReader;
import org.xml.sax.helpers.DefaultHandler;
import org.xml.sax.helpers.XMLFilterImpl;

/** A parser whose documents are no deeper than the JDK's may be. Axis itself refuses document type declarations. */
final class LimitedParser extends SAXParser {
    private final SAXParser parser;

    LimitedParser(SAXParser parser) {
        this.parser = parser;
    }

    @Override
    public void parse(InputSource source, DefaultHandler handler) throws SAXException, IOException {
        Depth limited = new Depth();
        limited.setContentHandler(handler);
        limited.setErrorHandler(handler);
        limited.setEntityResolver(handler);
        limited.setDTDHandler(handler);
        XMLReader reader = parser.getXMLReader();
        reader.setContentHandler(limited);
        reader.setErrorHandler(limited);
        reader.setEntityResolver(limited);
        reader.setDTDHandler(limited);
        reader.parse(source);
    }

    @Override
    @SuppressWarnings("deprecation") // of SAX 1, which Axis does not call
    public Parser getParser() throws SAXException {
        return parser.getParser();
    }

    @Override
    public XMLReader getXMLReader() throws SAXException {
        return parser.getXMLReader();
    }

    @Override
    public boolean isNamespaceAware() {
        return parser.isNamespaceAware();
    }

    @Override
    public boolean isValidating() {
        return parser.isValidating();
    }

    @Override
    public void setProperty(String name, Object value) throws SAXNotRecognizedException, SAXNotSupportedException {
        parser.setProperty(name, value);
    }

    @Override
    public Object getProperty(String name) throws SAXNotRecognizedException, SAXNotSupportedException {
        return parser.getProperty(name);
    }

    /** Counts elements that are open. */
    private static final class Depth extends XMLFilterImpl {
        private int open;

        @Override
        public void startElement(String uri, String localName, String name, Attributes attributes) throws SAXException {
            open++;
            if (open > AxisBinding.DEPTH_MAX) {
                throw new SAXException("elements are deeper than " + AxisBinding.DEPTH_MAX);
            }
            super.startElement(uri, localName, name, attributes);
        }

        @Override
        public void endElement(String uri, String localName, String name) throws SAXException {
            open--;
            super.endElement(uri, localName, name);
        }
    }
}
