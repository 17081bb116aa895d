package wirelab.service.axis;

import javax.xml.parsers.ParserConfigurationException;
import javax.xml.parsers.SAXParser;
import javax.xml.parsers.SAXParserFactory;
import org.xml.sax.SAXException;
import org.xml.sax.SAXNotRecognizedException;
import org.xml.sax.SAXNotSupportedException;

/** Makes parsers that the limits of the JDK do not reach, with one of our own. Axis makes it by name. */
public abstract sealed class LimitedFactory extends SAXParserFactory {
    private final SAXParserFactory factory;

    private LimitedFactory(SAXParserFactory factory) {
        this.factory = factory;
    }

    @Override
    public SAXParser newSAXParser() throws ParserConfigurationException, SAXException {
        factory.setNamespaceAware(isNamespaceAware());
        factory.setValidating(isValidating());
        return new LimitedParser(factory.newSAXParser());
    }

    @Override
    public void setFeature(String name, boolean value)
            throws ParserConfigurationException, SAXNotRecognizedException, SAXNotSupportedException {
        factory.setFeature(name, value);
    }

    @Override
    public boolean getFeature(String name)
            throws ParserConfigurationException, SAXNotRecognizedException, SAXNotSupportedException {
        return factory.getFeature(name);
    }

    /** Apache Xerces. */
    public static final class Xerces extends LimitedFactory {
        /** Made by Axis. */
        public Xerces() {
            super(new org.apache.xerces.jaxp.SAXParserFactoryImpl());
        }
    }

    /** Apache Crimson. */
    public static final class Crimson extends LimitedFactory {
        /** Made by Axis. */
        public Crimson() {
            super(new org.apache.crimson.jaxp.SAXParserFactoryImpl());
        }
    }
}
