package wirelab.parse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ParsersTest {
    private static final Set<String> OTHER_FORMATS = Set.of("json", "protobuf", "cbor", "cdr");
    private static final String MIXED = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- comment --><?target data?>
            <a:root xmlns:a="urn:a" xmlns="urn:b" plain="1&amp;2" a:own="\u00e9">
              <child>text <![CDATA[<raw>]]> more &lt;&#x20AC;&gt;</child><child/>\u65e5\u672c\ud83d\ude00
              <inner xmlns=""><leaf a:b="c">  </leaf></inner>
            </a:root>
            """;

    static List<String> xml() {
        return Parsers.ALL.keySet().stream().filter(name -> !OTHER_FORMATS.contains(name)).toList();
    }

    @Test
    void allParsersSeeTheSameElementsAttributesAndTexts() throws Exception {
        String seen = fingerprint("jdk-sax", MIXED);
        Set<String> others = xml().stream().filter(name -> !fingerprint(name, MIXED).equals(seen)).collect(Collectors.toSet());
        assertEquals(Set.of(), others);
    }

    @ParameterizedTest
    @MethodSource("xml")
    void theChecksumDependsOnEveryText(String name) throws Exception {
        Parser parser = Parsers.ALL.get(name).make();
        long first = parser.parse("<a><b>12</b><c d='3'/></a>".getBytes(StandardCharsets.UTF_8));
        assertEquals(first, parser.parse("<a><b>12</b><c d='3'/></a>".getBytes(StandardCharsets.UTF_8)));
        assertTrue(first != parser.parse("<a><b>13</b><c d='3'/></a>".getBytes(StandardCharsets.UTF_8)));
        assertTrue(first != parser.parse("<a><b>12</b><c d='4'/></a>".getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @MethodSource("xml")
    void aBrokenDocumentIsAnError(String name) throws Exception {
        Parser parser = Parsers.ALL.get(name).make();
        assertThrows(Exception.class, () -> parser.parse("<a><b></a>".getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @MethodSource("xml")
    void anExternalEntityIsNeverRead(String name) throws Exception {
        byte[] document = "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/hostname'>]><a>&e;</a>"
                .getBytes(StandardCharsets.UTF_8);
        Parser parser = Parsers.ALL.get(name).make();
        assertThrows(Exception.class, () -> parser.parse(document));
        assertThrows(Refused.class, () -> Prolog.check(document));
    }

    @Test
    void entitiesThatGrowAreRefusedBeforeAnyParser() {
        StringBuilder document = new StringBuilder("<!DOCTYPE a [<!ENTITY l0 'lol'>");
        for (int level = 1; level < 10; level++) {
            document.append("<!ENTITY l").append(level).append(" '").append(("&l" + (level - 1) + ";").repeat(10)).append("'>");
        }
        byte[] bytes = document.append("]><a>&l9;</a>").toString().getBytes(StandardCharsets.UTF_8);
        assertThrows(Refused.class, () -> Prolog.check(bytes));
    }

    @Test
    void theParsersAreThoseThatTheirNamesSay() throws Exception {
        assertEquals("org.apache.xerces.jaxp.SAXParserImpl$JAXPSAXParser", implementation("xerces-sax"));
        assertEquals("org.apache.crimson.parser.XMLReaderImpl", implementation("crimson-sax"));
        assertEquals("org.apache.crimson.jaxp.DocumentBuilderImpl", implementation("crimson-dom"));
        assertTrue(implementation("jdk-sax").startsWith("com.sun.org.apache.xerces.internal."));
        assertTrue(implementation("jdk-stax").startsWith("com.sun."));
        assertTrue(implementation("woodstox").startsWith("com.ctc.wstx."));
        assertTrue(implementation("aalto").startsWith("com.fasterxml.aalto."));
    }

    @Test
    void formatsDecodeTheSameFields() throws Exception {
        String json = Parsers.ALL.get("json").make().of("reserve")
                .fingerprint("{\"id\":2,\"am\":520}".getBytes(StandardCharsets.UTF_8));
        assertEquals(json, Parsers.ALL.get("protobuf").make().of("reserve").fingerprint(new byte[] {8, 2, 16, (byte) 0x88, 4}));
        assertEquals(json, Parsers.ALL.get("cdr").make().of("reserve").fingerprint(new byte[] {0, 0, 0, 2, 0, 0, 2, 8}));
    }

    private static String implementation(String name) throws Exception {
        Parser parser = Parsers.ALL.get(name).make();
        parser.parse("<a/>".getBytes(StandardCharsets.UTF_8));
        return parser.implementation().getName();
    }

    private static String fingerprint(String name, String document) {
        try {
            return Parsers.ALL.get(name).make().fingerprint(document.getBytes(StandardCharsets.UTF_8));
        } catch (Exception error) {
            throw new AssertionError(name, error);
        }
    }
}
