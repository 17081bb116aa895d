package wirelab.service.petclinic;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import wirelab.service.Bench;

/** A service of {@code petclinic}, and calls to it; those by texts are of JSON. */
final class Clinic implements AutoCloseable {
    static final String API = "/petclinic/api";

    private final Bench bench;

    private Clinic(Bench bench) {
        this.bench = bench;
    }

    static Clinic start(String store, String options) throws Exception {
        return start("json", store, options);
    }

    static Clinic start(String codec, String store, String options) throws Exception {
        return new Clinic(Bench.start("petclinic", "{\"binding\":\"rest\",\"codec\":\"" + codec + "\"}",
                "\"store\":" + store + ",\"options\":" + options));
    }

    /** A service that keeps its replies, for timing their codec. */
    static Clinic startKeeping(String codec, String store, String options) throws Exception {
        return new Clinic(Bench.start("petclinic", "{\"binding\":\"rest\",\"codec\":\"" + codec + "\"}",
                "\"codec_times\":true,\"store\":{\"kind\":\"" + store + "\"},\"options\":" + options));
    }

    Bench bench() {
        return bench;
    }

    Bench.Reply call(String method, String path, String body) throws Exception {
        return bench.http(method + " " + API + path + " HTTP/1.1" + (body == null ? "" : "\r\nContent-Type: application/json"),
                body == null ? null : body.getBytes(StandardCharsets.UTF_8));
    }

    Bench.Reply post(String path, String codec, byte[] body) throws Exception {
        String type = codec.equals("json") ? "application/json" : "application/x-protobuf";
        return bench.http("POST " + API + path + " HTTP/1.1\r\nContent-Type: " + type, body);
    }

    /** A reply of status 200. */
    Object get(String path) throws Exception {
        Bench.Reply reply = call("GET", path, null);
        assertEquals(200, reply.status(), path);
        return Bench.value(reply.text());
    }

    String text(String path) throws Exception {
        return call("GET", path, null).text();
    }

    Map<?, ?> one(String path) throws Exception {
        return (Map<?, ?>) get(path);
    }

    List<?> all(String path) throws Exception {
        return (List<?>) get(path);
    }

    /** A new row's id; 201 with its path, or 200 for AddPet. */
    int add(String path, String body, String location) throws Exception {
        Bench.Reply reply = call("POST", path, body);
        int id = (Integer) ((Map<?, ?>) Bench.value(reply.text())).get("id");
        assertEquals(location == null ? 200 : 201, reply.status(), reply.text());
        assertEquals(location != null, reply.head().contains("Location: " + API + "/" + location + "/" + id + "\r\n"),
                reply.head());
        return id;
    }

    void status(int expected, String method, String path, String body) throws Exception {
        Bench.Reply reply = call(method, path, body);
        assertEquals(expected, reply.status(), method + " " + path + " " + body + ": " + reply.text());
        if (expected == 204 || expected == 404) {
            assertEquals("", reply.text());
        }
        if (expected == 400) {
            assertEquals(body != null, reply.head().contains("\r\nerrors: "), reply.head());
            assertEquals(Set.of("className", "exMessage"), ((Map<?, ?>) Bench.value(reply.text())).keySet());
        }
    }

    @Override
    public void close() {
        bench.close();
    }
}
