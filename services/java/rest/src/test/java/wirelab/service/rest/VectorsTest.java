package wirelab.service.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.DiscardUnknownFieldsParser;
import com.google.protobuf.Message;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import wirelab.service.Bench;
import wirelab.service.contract.Calendar;
import wirelab.service.contract.Charging;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Exchanges;
import wirelab.service.contract.MemoryRecordStore;
import wirelab.service.contract.Model;
import wirelab.service.contract.Records;
import wirelab.service.contract.Transfer;
import wirelab.service.protobuf.ProtobufExchanges;

/** Every codec reads what the golden vectors say must be read alike, and refuses what they say must be refused. */
class VectorsTest {
    private static final List<Model> MODELS = List.of(
            new Transfer(14), new Charging(1, 1), new Calendar(), new Records(new MemoryRecordStore()));

    @Test
    void jsonIsReadAndWrittenByTheVectors() throws Exception {
        int read = 0;
        for (Map<?, ?> each : readAccepted("messages.json", "encodings.json")) {
            Class<?> message = plain(each.get("message"));
            if (message == null) {
                continue;
            }
            Codec codec = Codecs.codec("json", null);
            String json = (String) each.get("json");
            for (String form : forms(each, "json")) {
                byte[] written = codec.write(codec.read(form.getBytes(StandardCharsets.UTF_8), message));
                assertEquals(Bench.value(json), Bench.value(new String(written, StandardCharsets.UTF_8)), form);
                read++;
            }
        }
        assertTrue(read > 60, "only " + read + " forms were read");
    }

    @Test
    void xmlIsReadAndWrittenByTheVectors() throws Exception {
        int read = 0;
        for (Map<?, ?> each : readAccepted("encodings.json")) {
            for (Model model : MODELS) {
                Class<?> message = plain(model, each.get("message"));
                if (message == null) {
                    continue;
                }
                Codec codec = new XmlCodec(model);
                for (String form : forms(each, "xml")) {
                    Object value = codec.read(form.getBytes(StandardCharsets.UTF_8), message);
                    byte[] written = codec.write(value);
                    String json = new String(Codecs.codec("json", null).write(codec.read(written, message)), StandardCharsets.UTF_8);
                    assertEquals(Bench.value((String) each.get("json")), Bench.value(json), form);
                    read++;
                }
            }
        }
        assertTrue(read > 60, "only " + read + " forms were read");
    }

    @Test
    void protobufIsReadAndWrittenByTheVectors() throws Exception {
        int read = 0;
        for (Map<?, ?> each : readAccepted("messages.json", "encodings.json")) {
            Class<?> message = protobuf(each.get("message"));
            if (message == null) {
                continue;
            }
            ProtobufCodec codec = new ProtobufCodec();
            Message expected = (Message) codec.read(HexFormat.of().parseHex((String) each.get("protobuf")), message);
            for (String form : forms(each, "protobuf")) {
                Object value = codec.read(HexFormat.of().parseHex(form), message);
                if (form.equals(each.get("protobuf"))) {
                    assertEquals(form, HexFormat.of().formatHex(codec.write(value)));
                }
                // Unknown fields are kept by the library, within the messages of a message too.
                assertEquals(expected, DiscardUnknownFieldsParser.wrap(expected.getParserForType()).parseFrom(codec.write(value)));
                read++;
            }
        }
        assertTrue(read > 60, "only " + read + " forms were read");
    }

    @Test
    void cborAndMessagePackAreReadAndWrittenByTheVectors() throws Exception {
        for (String name : List.of("cbor", "msgpack")) {
            Codec codec = Codecs.codec(name, null);
            int read = 0;
            for (Map<?, ?> each : readAccepted("encodings.json")) {
                Class<?> message = plain(each.get("message"));
                if (message == null) {
                    continue;
                }
                byte[] given = HexFormat.of().parseHex((String) each.get(name));
                byte[] written = codec.write(codec.read(given, message));
                String json = new String(Codecs.codec("json", null).write(codec.read(written, message)), StandardCharsets.UTF_8);
                assertEquals(Bench.value((String) each.get("json")), Bench.value(json), name + " " + each.get("name"));
                read++;
            }
            assertTrue(read > 20, "only " + read + " messages of " + name + " were read");
        }
    }

    @Test
    void avroIsReadAndWrittenByTheVectors() throws Exception {
        int read = 0;
        for (Map<?, ?> each : readAccepted("encodings.json")) {
            for (Model model : MODELS) {
                Class<?> message = plain(model, each.get("message"));
                if (message == null) {
                    continue;
                }
                Codec codec = Codecs.codec("avro", model);
                Object value = codec.read(HexFormat.of().parseHex((String) each.get("avro")), message);
                String json = new String(Codecs.codec("json", null).write(value), StandardCharsets.UTF_8);
                assertEquals(Bench.value((String) each.get("json")), Bench.value(json), "avro " + each.get("name"));
                assertEquals(each.get("avro"), HexFormat.of().formatHex(codec.write(value)));
                read++;
            }
        }
        assertTrue(read > 60, "only " + read + " messages of avro were read");
    }

    @Test
    void arraysOfAvroComeInBlocks() throws Exception {
        Codec codec = Codecs.codec("avro", MODELS.get(0));
        Class<?> submit = plain("SubmitRequest");
        String record = "0202026200";
        // Each with its length in bytes or without; a negative count announces one.
        List<String> forms = List.of(
                "04" + record + record, "02" + record + "02" + record, "0314" + record + record,
                "010a" + record + "02" + record);
        for (String blocks : forms) {
            byte[] bytes = HexFormat.of().parseHex("0261" + blocks + "00");
            byte[] written = codec.write(codec.read(bytes, submit));
            assertEquals("0261" + forms.get(0) + "00", HexFormat.of().formatHex(written), blocks);
        }
    }

    @Test
    void whatNoReaderMayTakeIsRefused() throws Exception {
        Map<?, ?> messages = (Map<?, ?>) Bench.vectors("messages.json");
        Map<?, ?> encodings = (Map<?, ?>) Bench.vectors("encodings.json");
        assertRefused((List<?>) messages.get("refused_json"), "json");
        assertRefused((List<?>) messages.get("refused_protobuf"), "protobuf");
        assertRefused((List<?>) encodings.get("refused_xml"), "xml");
        assertRefused((List<?>) encodings.get("refused_cbor"), "cbor");
        assertRefused((List<?>) encodings.get("refused_msgpack"), "msgpack");
        assertRefused((List<?>) encodings.get("refused_avro"), "avro");
    }

    private static void assertRefused(List<?> vectors, String codec) {
        int refused = 0;
        for (Object each : vectors) {
            Map<?, ?> vector = (Map<?, ?>) each;
            String input = (String) vector.get("input");
            for (Model model : MODELS) {
                Class<?> message = codec.equals("protobuf")
                        ? protobuf(vector.get("message"))
                        : plain(model, vector.get("message"));
                // A class that is not a request of its own has no route.
                if (message == null || message.getSimpleName().equals("Record")) {
                    continue;
                }
                Codec reader = Codecs.codec(codec, model);
                byte[] bytes = List.of("protobuf", "cbor", "msgpack", "avro").contains(codec)
                        ? HexFormat.of().parseHex(input)
                        : input.getBytes(StandardCharsets.UTF_8);
                assertThrows(Codec.Malformed.class, () -> reader.read(bytes, message), codec + ": " + vector.get("why"));
                refused++;
            }
        }
        assertTrue(refused > 2, "only " + refused + " inputs of " + codec + " were tried");
    }

    private static List<Map<?, ?>> readAccepted(String... files) throws Exception {
        List<Map<?, ?>> all = new ArrayList<>();
        for (String file : files) {
            for (Object each : (List<?>) ((Map<?, ?>) Bench.vectors(file)).get("accepted")) {
                all.add((Map<?, ?>) each);
            }
        }
        return all;
    }

    private static Set<String> forms(Map<?, ?> vector, String codec) {
        Set<String> forms = new LinkedHashSet<>();
        forms.add((String) vector.get(codec));
        if (vector.get(codec + "_variants") instanceof List<?> variants) {
            variants.forEach(variant -> forms.add((String) variant));
        }
        return forms;
    }

    private static Class<?> plain(Object name) {
        return MODELS.stream().map(model -> plain(model, name)).filter(found -> found != null).findFirst().orElse(null);
    }

    private static Class<?> plain(Model model, Object name) {
        return findClass(Exchanges.of(model), name);
    }

    private static Class<?> protobuf(Object name) {
        return MODELS.stream().map(model -> findClass(ProtobufExchanges.of(model), name))
                .filter(found -> found != null).findFirst().orElse(null);
    }

    private static Class<?> findClass(List<? extends Exchange<?, ?>> exchanges, Object name) {
        for (Exchange<?, ?> exchange : exchanges) {
            for (Class<?> message : List.of(exchange.request(), exchange.reply())) {
                if (message.getSimpleName().equals(name)) {
                    return message;
                }
            }
        }
        return null;
    }
}
