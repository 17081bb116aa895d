package wirelab.service.axis;

import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.SAXParserFactory;
import org.apache.axis.utils.XMLUtils;

/** The parsers of the axis {@code parser} that Axis can read requests by. */
final class SaxParsers {
    private SaxParsers() {}

    /**
     * Makes Axis take a parser. JAXP would take the first one on the class path: all that is not
     * chosen is the JDK's.
     */
    static void use(String parser) {
        System.setProperty(DocumentBuilderFactory.class.getName(),
                DocumentBuilderFactory.newDefaultInstance().getClass().getName());
        System.setProperty(SAXParserFactory.class.getName(),
                SAXParserFactory.newDefaultInstance().getClass().getName());
        XMLUtils.initSAXFactory(
                switch (parser) {
                    case "default" -> null; // what JAXP says
                    case "xerces-sax" -> LimitedFactory.Xerces.class.getName();
                    case "crimson-sax" -> LimitedFactory.Crimson.class.getName();
                    default -> throw unknown(parser);
                },
                true,
                false);
    }

    /** The class of a parser's factory, by its value of the axis. */
    static String factoryClass(String parser) {
        return switch (parser) {
            case "default" -> SAXParserFactory.newDefaultInstance().getClass().getName();
            case "xerces-sax" -> org.apache.xerces.jaxp.SAXParserFactoryImpl.class.getName();
            case "crimson-sax" -> org.apache.crimson.jaxp.SAXParserFactoryImpl.class.getName();
            default -> throw unknown(parser);
        };
    }

    private static IllegalArgumentException unknown(String parser) {
        return new IllegalArgumentException("no parser of SAX is named " + parser);
    }
}
