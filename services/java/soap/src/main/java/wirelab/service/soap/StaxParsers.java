package wirelab.service.soap;

import com.ctc.wstx.stax.WstxEventFactory;
import com.ctc.wstx.stax.WstxInputFactory;
import com.ctc.wstx.stax.WstxOutputFactory;
import com.fasterxml.aalto.stax.InputFactoryImpl;
import javax.xml.stream.XMLEventFactory;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLOutputFactory;

/** The parsers of the axis {@code parser} that CXF can read requests by, without DTDs and external entities. */
final class StaxParsers {
    private StaxParsers() {}

    /**
     * JAXP would take the first parser on the class path. Whoever reads a request, CXF's own readers
     * and writers are those of Woodstox. To be called before a class of CXF is loaded.
     */
    static void pinCxfToWoodstox() {
        System.setProperty(XMLInputFactory.class.getName(), WstxInputFactory.class.getName());
        System.setProperty(XMLOutputFactory.class.getName(), WstxOutputFactory.class.getName());
        System.setProperty(XMLEventFactory.class.getName(), WstxEventFactory.class.getName());
    }

    /** The class of a parser's factory, by its value of the axis. */
    static Class<? extends XMLInputFactory> factoryClass(String parser) {
        return factory(parser).getClass();
    }

    /** A new factory; {@link LimitedReader} has the further limits of its readers. */
    static XMLInputFactory createSecureFactory(String parser) {
        XMLInputFactory factory = factory(parser);
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        return factory;
    }

    private static XMLInputFactory factory(String parser) {
        return switch (parser) {
            case "jdk" -> XMLInputFactory.newDefaultFactory();
            // CXF's own.
            case "woodstox", "default" -> new WstxInputFactory();
            case "aalto" -> new InputFactoryImpl();
            default -> throw new IllegalArgumentException("no parser of StAX is named " + parser);
        };
    }
}
