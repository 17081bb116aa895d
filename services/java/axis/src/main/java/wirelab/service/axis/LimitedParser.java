package wirelab.service.axis;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
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

/**
 * A parser whose documents have bounded depth, attributes of an element, and different names: of these
 * Crimson keeps a table that never grows, so that the time of many is quadratic. They are counted when the
 * parser passes an element on, so one element is read whole. Axis itself refuses document type
 * declarations. The lengths of texts, attributes and names are limited by that of a request alone.
 */
final class LimitedParser extends SAXParser {
    /** As CXF has it. The JDK's own is 10,000 (200 from JDK 24 on). */
    static final int ATTRIBUTES_MAX = 500;
    /** Of elements and attributes together; the largest contract has fewer than a hundred. */
    static final int NAMES_MAX = 1_000;

    private static volatile Class<?> used;

    private final SAXParser parser;

    LimitedParser(SAXParser parser) {
        this.parser = parser;
    }

    /** The class of the reader of the last request; null before the first. */
    static Class<?> used() {
        return used;
    }

    @Override
    public void parse(InputSource source, DefaultHandler handler) throws SAXException, IOException {
        Limits limited = new Limits();
        limited.setContentHandler(handler);
        limited.setErrorHandler(handler);
        limited.setEntityResolver(handler);
        limited.setDTDHandler(handler);
        XMLReader reader = parser.getXMLReader();
        used = reader.getClass();
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

    /** Counts open elements, attributes and names. */
    private static final class Limits extends XMLFilterImpl {
        private final Set<String> names = new HashSet<>();
        private int open;

        @Override
        public void startElement(String uri, String localName, String name, Attributes attributes) throws SAXException {
            open++;
            limit("elements are deeper than ", open, AxisBinding.DEPTH_MAX);
            limit("attributes of an element are more than ", attributes.getLength(), ATTRIBUTES_MAX);
            names.add(name);
            for (int at = 0; at < attributes.getLength(); at++) {
                names.add(attributes.getQName(at));
            }
            limit("different names are more than ", names.size(), NAMES_MAX);
            super.startElement(uri, localName, name, attributes);
        }

        private static void limit(String exceeded, int count, int most) throws SAXException {
            if (count > most) {
                throw new SAXException(exceeded + most);
            }
        }

        @Override
        public void endElement(String uri, String localName, String name) throws SAXException {
            open--;
            super.endElement(uri, localName, name);
        }
    }
}
