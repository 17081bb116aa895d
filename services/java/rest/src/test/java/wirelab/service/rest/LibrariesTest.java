package wirelab.service.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.github.luben.zstd.Zstd;
import com.google.protobuf.CodedInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.zip.GZIPOutputStream;
import javax.xml.stream.XMLInputFactory;
import org.apache.avro.reflect.ReflectDatumReader;
import org.apache.catalina.connector.Connector;
import org.glassfish.jaxb.runtime.v2.ContextFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.web.servlet.DispatcherServlet;
import wirelab.service.Bench;

/** The rows of the ready line are the libraries that the classes of this module come from. */
class LibrariesTest {
    /** Files that can be read; nothing here opens them. */
    private static final String TLS =
            "\"tls\":{\"certificate\":\"/proc/version\",\"key\":\"/proc/version\",\"client_ca\":\"/proc/version\"}";

    @Test
    void serversAreTomcatAndSpringMvc() throws Exception {
        assertEquals(
                List.of("server " + Bench.origin(Connector.class), "server " + Bench.origin(DispatcherServlet.class)),
                libraries("json", "", "").subList(0, 2));
    }

    @Test
    void eachCodecNamesWhatReadsAndWritesItsMessages() throws Exception {
        assertEquals(
                List.of("codec " + Bench.origin(ObjectMapper.class), "codec " + Bench.origin(JsonParser.class)),
                codecs("json"));
        assertEquals(List.of("codec " + Bench.origin(CodedInputStream.class)), codecs("protobuf"));
        assertEquals(List.of("codec " + Bench.origin(ReflectDatumReader.class)), codecs("avro"));
        // Not Woodstox or another one that a factory would find first: XmlCodec asks for the JDK's.
        String stax = Bench.origin(XMLInputFactory.newDefaultFactory().getClass());
        assertEquals(List.of("codec " + Bench.origin(ContextFactory.class), "codec " + stax), codecs("xml"));
    }

    /** What service.json offers without a list of codecs are the rows, and those of the table where wirelab plans. */
    @Test
    void everyCodecOfTheTableHasARowAndNoOtherHas() throws Exception {
        Map<?, ?> table = (Map<?, ?>) Bench.value(Files.readString(Path.of("../../../python/wirelab/data/stack.json")));
        List<?> planned = ((List<?>) table.get("bindings")).stream()
                .map(row -> (Map<?, ?>) row)
                .filter(row -> row.get("name").equals("rest"))
                .flatMap(row -> ((List<?>) row.get("codecs")).stream())
                .toList();
        assertEquals(new TreeSet<>(planned), new TreeSet<>(Codecs.names()));
    }

    @Test
    void textIsOwnCodeWithTheVersionOfTheProject() throws Exception {
        assertEquals(List.of("codec lab's own development"), codecs("text"));
    }

    @Test
    void compressionIsNamedWhereTheStackCompresses() throws Exception {
        assertEquals(
                "compression " + Bench.origin(GZIPOutputStream.class), last(libraries("json", "gzip", "")));
        assertEquals("compression " + Bench.origin(Zstd.class), last(libraries("json", "zstd", "")));
    }

    @ParameterizedTest
    @CsvSource({"tls", "mtls"})
    void tlsIsTheJdksWhereTheStackEncrypts(String security) throws Exception {
        assertEquals("tls sun.security.ssl " + Runtime.version(), last(libraries("json", "", security)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "{'kind':'sqlite','url':'x'}; sqlite-jdbc", "{'kind':'h2'}; h2", "{'kind':'hsqldb'}; hsqldb",
        "{'kind':'postgres','url':'postgres://u:p@127.0.0.1:1/d'}; postgresql",
        "{'kind':'postgres','url':'postgres://u@/d?host=/s'}; postgresql,junixsocket-common"
    }, quoteCharacter = '`')
    void storesAreTheirDriverAndTheirPool(String store, String drivers) throws Exception {
        List<String> names = Bench.libraries("records", "{\"binding\":\"rest\"}", "\"store\":" + store.replace('\'', '"'))
                .stream().filter(row -> row.startsWith("store ")).map(row -> row.split(" ")[1]).toList();
        assertEquals(drivers + ",HikariCP", String.join(",", names));
    }

    private static List<String> codecs(String codec) throws Exception {
        List<String> rows = libraries(codec, "", "");
        return rows.subList(2, rows.size());
    }

    private static List<String> libraries(String codec, String compression, String security) throws Exception {
        String stack = "{\"binding\":\"rest\",\"codec\":\"" + codec + "\""
                + (compression.isEmpty() ? "" : ",\"compression\":\"" + compression + "\"")
                + (security.isEmpty() ? "" : ",\"security\":\"" + security + "\"") + "}";
        return Bench.libraries(stack, TLS);
    }

    private static String last(List<String> rows) {
        return rows.get(rows.size() - 1);
    }
}
