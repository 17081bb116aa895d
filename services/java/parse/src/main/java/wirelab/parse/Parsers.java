package wirelab.parse;

import com.fasterxml.aalto.stax.InputFactoryImpl;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import com.ctc.wstx.stax.WstxInputFactory;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.SAXParserFactory;
import javax.xml.stream.XMLInputFactory;

/** Every parser by its name in {@code wirelab parse}. */
final class Parsers {
    /** Makes a parser with its factory. */
    @FunctionalInterface
    interface Maker {
        Parser make() throws Exception;
    }

    private static final String DISALLOW_DOCTYPE = "http://apache.org/xml/features/disallow-doctype-decl";

    /** In the order in which they are listed. */
    static final Map<String, Maker> ALL = all();

    private Parsers() {}

    private static Map<String, Maker> all() {
        Map<String, Maker> all = new LinkedHashMap<>();
        all.put("xerces-sax", () -> sax(new org.apache.xerces.jaxp.SAXParserFactoryImpl()));
        all.put("xerces-dom", () -> dom(new org.apache.xerces.jaxp.DocumentBuilderFactoryImpl()));
        // Crimson has no such feature; Main refuses document type declarations before any parser.
        all.put("crimson-sax", () -> new SaxParser(new org.apache.crimson.jaxp.SAXParserFactoryImpl()));
        all.put("crimson-dom", () -> new DomParser(new org.apache.crimson.jaxp.DocumentBuilderFactoryImpl()));
        all.put("jdk-sax", () -> sax(SAXParserFactory.newDefaultInstance()));
        all.put("jdk-dom", () -> dom(DocumentBuilderFactory.newDefaultInstance()));
        all.put("jdk-stax", () -> new StaxParser(XMLInputFactory.newDefaultFactory()));
        all.put("woodstox", () -> new StaxParser(new WstxInputFactory()));
        all.put("aalto", () -> new StaxParser(new InputFactoryImpl()));
        all.put("vtd-xml", VtdParser::new);
        all.put("json", () -> Formats.jackson(new JsonFactory()));
        all.put("protobuf", Formats::protobuf);
        all.put("cbor", () -> Formats.jackson(new CBORFactory()));
        all.put("cdr", Formats::cdr);
        return all;
    }

    private static Parser sax(SAXParserFactory factory) throws Exception {
        factory.setFeature(DISALLOW_DOCTYPE, true);
        return new SaxParser(factory);
    }

    private static Parser dom(DocumentBuilderFactory factory) throws Exception {
        factory.setFeature(DISALLOW_DOCTYPE, true);
        return new DomParser(factory);
    }
}
