package wirelab.parse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ParsersTest {
    private static final Set<String> OTHER_FORMATS = Set.of("json", "protobuf", "cbor", "cdr");
    private static final String MIXED = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- comment --><?target data?>
            <a:root xmlns:a="urn:a" xmlns="urn:b" plain="1&amp;2" a:own="\u00e9">
              <child>text <![CDATA[<raw>]]> more &lt;&#x20AC;&gt;</child><child/>\u65e5\u672c\ud83d\ude00
              <inner xmlns=""><leaf a:b="c" xmlnsfoo="d" xml:lang="en">  </leaf></inner>
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
    void aDocumentTypeDeclarationIsRefused(String name) throws Exception {
        assertTrue(refusal(name, "<!DOCTYPE a><a/>").matches("(?s).*(document type|DOCTYPE|DTD).*"));
    }

    /** By some parsers at the declaration, by others where the entity is used; none says that no file is there. */
    @ParameterizedTest
    @MethodSource("xml")
    void anExternalEntityIsNeverRead(String name) throws Exception {
        String reason = refusal(name, "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///not/there'>]><a>&e;</a>");
        assertTrue(reason.matches("(?si).*(document type|DOCTYPE|DTD|entity).*"), reason);
        assertFalse(reason.contains("/not/there"), reason);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "<!DOCTYPE a><a/>", "\ufeff<?xml version='1.0'?>\r\n\t <!-- <a> --><?b <a> ?><!DOCTYPE a [<!ENTITY b 'lol'>]><a/>",
        "<!-- -- ><!DOCTYPE a> --><!DOCTYPE a><a/>", "<!doctype a><a/>",
    })
    void aDocumentTypeDeclarationIsRefusedBeforeAnyParser(String document) {
        Refused refused = assertThrows(Refused.class, () -> Prolog.check(document.getBytes(StandardCharsets.UTF_8)));
        assertTrue(refused.getMessage().contains("document type declaration"), refused::getMessage);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "text", "\u00e9<a/>", "<?xml version='1.0'", "<!-- <a/>", "<!--><a/>", "<?a?", "\ufeff"})
    void aPrologThatIsNotWellFormedIsRefused(String document) {
        for (Charset charset : List.of(StandardCharsets.UTF_8, StandardCharsets.UTF_16)) {
            Refused refused = assertThrows(Refused.class, () -> Prolog.check(document.getBytes(charset)));
            assertTrue(refused.getMessage().contains("not well formed"), refused::getMessage);
        }
    }

    @Test
    void aPrologWithoutADeclarationIsPassedOn() throws Exception {
        for (String document : List.of("<a/>", MIXED, "\ufeff<a/>", "<!----><?a?><a><![CDATA[<!DOCTYPE]]></a>")) {
            Prolog.check(document.getBytes(StandardCharsets.UTF_8));
        }
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

    @Test
    void calmEndsAWarmUpOfEnoughParsesAndTime() {
        Timing.Plan plan = new Timing.Plan(2_000, 1, 1);
        assertTrue(plan.isWarm(20_000, 1_000));
        assertFalse(plan.isWarm(19_999, 2_000));
        assertFalse(plan.isWarm(20_000, 999));
    }

    @Test
    void aParserIsTimedInEveryBlock() throws Exception {
        byte[] document = "<a>1</a>".getBytes(StandardCharsets.UTF_8);
        Timing.Result result = Timing.run(Parsers.ALL.get("aalto"), List.of(new Timing.Document("a", document)),
                new Timing.Plan(100_000_000, 4_000_000, 4));
        assertEquals(4, result.documents().get(0).blockNs().length);
        assertTrue(result.warmupNs() >= 50_000_000, () -> result.warmupNs() + " ns");
    }

    private static String refusal(String name, String document) throws Exception {
        Parser parser = Parsers.ALL.get(name).make();
        return assertThrows(Exception.class, () -> parser.parse(document.getBytes(StandardCharsets.UTF_8))).getMessage();
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
