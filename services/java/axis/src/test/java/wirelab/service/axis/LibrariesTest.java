package wirelab.service.axis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.apache.axis.server.AxisServer;
import org.apache.axis.utils.XMLUtils;
import org.apache.catalina.connector.Connector;
import org.junit.jupiter.api.Test;
import wirelab.service.Bench;

/** The rows of the ready line are the libraries that the classes of this module come from. */
class LibrariesTest {
    /** The parser is the one that Axis itself makes. */
    @Test
    void axisServesBehindTomcatAndReadsByTheParserOfTheJdk() throws Exception {
        Class<?> parser = XMLUtils.getSAXParser().getClass();
        assertEquals(
                List.of(
                        "server " + Bench.origin(Connector.class),
                        "server " + Bench.origin(AxisServer.class),
                        "codec " + Bench.origin(AxisServer.class),
                        "codec " + Bench.origin(parser)),
                Bench.libraries("{\"binding\":\"soap\",\"codec\":\"soap-encoded\"}", ""));
    }
}
