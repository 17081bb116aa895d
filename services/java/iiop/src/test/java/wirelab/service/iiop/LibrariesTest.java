package wirelab.service.iiop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.jacorb.orb.ORB;
import org.junit.jupiter.api.Test;
import wirelab.service.Bench;

/** The rows of the ready line are the libraries that the classes of this module come from. */
class LibrariesTest {
    @Test
    void jacorbIsServerAndCodec() throws Exception {
        String jacorb = Bench.origin(ORB.class);
        assertEquals(List.of("server " + jacorb, "codec " + jacorb), Bench.libraries("{\"binding\":\"iiop\"}", ""));
    }
}
