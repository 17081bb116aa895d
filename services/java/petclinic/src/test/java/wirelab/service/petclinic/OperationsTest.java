package wirelab.service.petclinic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import wirelab.service.Bench;
import wirelab.service.store.Postgres;

/** All operations over REST in JSON, on every store and by every way to its rows. */
class OperationsTest {
    private static final String EDUARDO = "{\"id\":3,\"firstName\":\"Eduardo\",\"lastName\":\"Rodriquez\","
            + "\"address\":\"2693 Commerce St.\",\"city\":\"McFarland\",\"telephone\":\"6085558763\",\"pets\":["
            + "{\"id\":4,\"name\":\"Jewel\",\"birthDate\":\"2010-03-07\",\"type\":{\"id\":2,\"name\":\"dog\"},"
            + "\"ownerId\":3,\"visits\":[]},"
            + "{\"id\":3,\"name\":\"Rosy\",\"birthDate\":\"2011-04-17\",\"type\":{\"id\":2,\"name\":\"dog\"},"
            + "\"ownerId\":3,\"visits\":[]}]}";
    private static final String ANN = "{\"firstName\":\"Ann\",\"lastName\":\"Davies\",\"address\":\"1 Way\","
            + "\"city\":\"York\",\"telephone\":\"123\"}";
    private static final String REX = "{\"name\":\"Rex \u00e9\",\"birthDate\":\"0001-02-28\",\"type\":{\"id\":2},\"ownerId\":1}";

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "memory,,",
        "h2,data-jpa,eager", "h2,data-jpa,join", "hsqldb,data-jpa,eager", "sqlite,data-jpa,eager",
        "h2,jpa,eager", "hsqldb,jpa,join", "sqlite,jpa,eager",
        "h2,jdbc,eager", "h2,jdbc,join", "hsqldb,jdbc,eager", "sqlite,jdbc,join"
    })
    void everyOperationAnswersByTheContract(String kind, String repository, String fetch) throws Exception {
        String url = kind.equals("sqlite") ? ",\"url\":\"" + folder.resolve("clinic.db") + "\"" : "";
        String options = repository == null
                ? "{}"
                : "{\"repository\":\"" + repository + "\",\"fetch\":\"" + fetch + "\"}";
        for (int start = 0; start < 2; start++) {
            try (Clinic clinic = Clinic.start("{\"kind\":\"" + kind + "\"" + url + "}", options)) {
                check(clinic);
            }
        }
    }

    static void check(Clinic clinic) throws Exception {
        seed(clinic);
        owners(clinic);
        pets(clinic);
        vets(clinic);
        deletions(clinic);
    }

    private static void seed(Clinic clinic) throws Exception {
        assertEquals(List.of(6, 3, 6, 10, 13, 4), List.of(
                clinic.all("/pettypes").size(), clinic.all("/specialties").size(), clinic.all("/vets").size(),
                clinic.all("/owners").size(), clinic.all("/pets").size(), clinic.all("/visits").size()));
        assertTrue(clinic.text("/pettypes").startsWith("[{\"id\":1,\"name\":\"cat\"},{\"id\":2,"));
        assertEquals(EDUARDO, clinic.text("/owners/3"));
        assertEquals("[" + EDUARDO + "]", clinic.text("/owners?lastName=Rod"));
        assertEquals("{\"id\":3,\"firstName\":\"Linda\",\"lastName\":\"Douglas\",\"specialties\":["
                + "{\"id\":3,\"name\":\"dentistry\"},{\"id\":2,\"name\":\"surgery\"}]}", clinic.text("/vets/3"));
        assertEquals("{\"id\":8,\"name\":\"Max\",\"birthDate\":\"2012-09-04\",\"type\":{\"id\":1,\"name\":\"cat\"},"
                + "\"ownerId\":6,\"visits\":[{\"id\":2,\"date\":\"2013-01-02\",\"description\":\"rabies shot\",\"petId\":8},"
                + "{\"id\":3,\"date\":\"2013-01-03\",\"description\":\"neutered\",\"petId\":8}]}", clinic.text("/pets/8"));
        assertEquals(clinic.text("/pets/8"), clinic.text("/owners/6/pets/8"));
        assertEquals("{\"id\":4,\"date\":\"2013-01-04\",\"description\":\"spayed\",\"petId\":7}", clinic.text("/visits/4"));
        for (String absent : new String[] {
            "/pettypes/7", "/specialties/0", "/vets/-1", "/owners/11", "/pets/14", "/visits/5", "/owners/5/pets/8",
            "/owners/99/pets/8", "/owners/6/pets/99", "/owners?lastName=davis", "/owners?lastName=%25", "/owners?lastName=Davi_"
        }) {
            clinic.status(404, "GET", absent, null);
        }
    }

    private static void owners(Clinic clinic) throws Exception {
        assertEquals(2, clinic.all("/owners?lastName=Davis").size());
        int id = clinic.add("/owners", ANN, "owners");
        assertTrue(id > 10);
        assertEquals(ANN.replace("{\"first", "{\"id\":" + id + ",\"first").replace("\"}", "\",\"pets\":[]}"),
                clinic.text("/owners/" + id));
        assertEquals(3, clinic.all("/owners?lastName=Davi").size());
        clinic.status(204, "PUT", "/owners/" + id, ANN.replace("York", "Hull"));
        assertEquals("Hull", clinic.one("/owners/" + id).get("city"));
        clinic.status(404, "PUT", "/owners/999", ANN);
        for (String[] wrong : new String[][] {
            {"Ann", "O'Neil"}, {"Ann", ""}, {"Ann", "A".repeat(31)}, {"1 Way", ""}, {"1 Way", "w".repeat(256)},
            {"York", "y".repeat(81)}, {"123", "12a"}, {"123", "1".repeat(21)}
        }) {
            String body = ANN.replace("\"" + wrong[0] + "\"", "\"" + wrong[1] + "\"");
            clinic.status(400, "POST", "/owners", body);
            clinic.status(400, "PUT", "/owners/999", body);
        }
        clinic.status(400, "POST", "/owners", "{}");
        clinic.status(400, "POST", "/owners", ANN.replace("\"123\"", "123"));
        clinic.status(400, "POST", "/owners", "[]");
        clinic.status(400, "POST", "/owners", "");
        clinic.status(400, "POST", "/pettypes", "{\"id\":\"" + "x".repeat(100_000) + "\"}");
        clinic.status(400, "GET", "/owners/x", null);
        clinic.status(400, "GET", "/owners/2147483648", null);
        // The digit three of Arabic.
        clinic.status(400, "GET", "/owners/%D9%A3", null);
    }

    private static void pets(Clinic clinic) throws Exception {
        int rex = clinic.add("/pets", REX, null);
        assertEquals(Map.of("id", rex, "name", "Rex \u00e9", "birthDate", "0001-02-28",
                "type", Map.of("id", 2, "name", "dog"), "ownerId", 1, "visits", List.of()), clinic.one("/pets/" + rex));
        int tom = clinic.add("/owners/1/pets", REX.replace("Rex \u00e9", "Tom"), "pets");
        assertTrue(tom > rex);
        clinic.status(204, "PUT", "/pets/" + tom, REX.replace("0001-02-28", "2024-02-29").replace(":1}", ":2}"));
        assertEquals("2024-02-29", clinic.one("/pets/" + tom).get("birthDate"));
        assertEquals(1, clinic.one("/pets/" + tom).get("ownerId"));
        int visit = clinic.add("/visits", "{\"date\":\"9999-12-31\",\"description\":\"d\",\"petId\":" + tom + "}", "visits");
        int other = clinic.add("/owners/1/pets/" + tom + "/visits",
                "{\"date\":\"2020-01-01\",\"description\":\"e\",\"petId\":1}", "visits");
        assertEquals(tom, clinic.one("/visits/" + other).get("petId"));
        clinic.status(204, "PUT", "/visits/" + visit, "{\"date\":\"2021-01-01\",\"description\":\"f\",\"petId\":1}");
        assertEquals(Map.of("id", visit, "date", "2021-01-01", "description", "f", "petId", tom),
                clinic.one("/visits/" + visit));
        assertEquals(List.of(visit, other), ((List<?>) clinic.one("/pets/" + tom).get("visits")).stream()
                .map(each -> ((Map<?, ?>) each).get("id")).toList());
        for (String date : new String[] {"", "2010-9-7", "1900-02-29", "2010-04-31", "0000-01-01", "2010-09-071", "+201-09-07"}) {
            clinic.status(400, "POST", "/pets", REX.replace("0001-02-28", date));
            clinic.status(400, "POST", "/visits", "{\"date\":\"" + date + "\",\"description\":\"d\",\"petId\":1}");
        }
        clinic.status(400, "POST", "/pets", REX.replace("{\"id\":2}", "{\"id\":99}"));
        clinic.status(400, "POST", "/pets", REX.replace(",\"type\":{\"id\":2}", ""));
        clinic.status(400, "POST", "/pets", REX.replace(":1}", ":99}"));
        clinic.status(404, "POST", "/owners/99/pets", REX.replace("{\"id\":2}", "{\"id\":99}"));
        clinic.status(400, "POST", "/owners/1/pets", REX.replace("{\"id\":2}", "{\"id\":99}"));
        clinic.status(400, "PUT", "/pets/1", REX.replace("{\"id\":2}", "{\"id\":99}"));
        clinic.status(404, "PUT", "/pets/99", REX.replace("{\"id\":2}", "{\"id\":99}"));
        clinic.status(400, "POST", "/visits", "{\"date\":\"2020-01-01\",\"description\":\"d\",\"petId\":99}");
        clinic.status(404, "POST", "/owners/2/pets/1/visits", "{\"date\":\"2020-01-01\",\"description\":\"d\"}");
        clinic.status(404, "PUT", "/visits/99", "{\"date\":\"2020-01-01\",\"description\":\"d\"}");
        clinic.status(204, "DELETE", "/visits/" + other, null);
        clinic.status(204, "DELETE", "/pets/" + tom, null);
        clinic.status(404, "GET", "/visits/" + visit, null);
        clinic.status(404, "DELETE", "/pets/" + tom, null);
        assertTrue(clinic.add("/pets", REX, null) > tom, "an id was given twice");
    }

    private static void vets(Clinic clinic) throws Exception {
        int id = clinic.add("/vets", "{\"firstName\":\"Zoe\",\"lastName\":\"Vet\",\"specialties\":[{\"id\":1},{\"id\":1},{\"id\":2}]}", "vets");
        assertEquals(List.of(Map.of("id", 1, "name", "radiology"), Map.of("id", 2, "name", "surgery")),
                clinic.one("/vets/" + id).get("specialties"));
        clinic.status(204, "PUT", "/vets/" + id, "{\"firstName\":\"Zoe\",\"lastName\":\"Vet\",\"specialties\":[{\"id\":3,\"name\":\"x\"},{\"id\":2}]}");
        assertEquals(List.of(Map.of("id", 3, "name", "dentistry"), Map.of("id", 2, "name", "surgery")),
                clinic.one("/vets/" + id).get("specialties"));
        clinic.status(400, "POST", "/vets", "{\"firstName\":\"Zoe\",\"lastName\":\"Vet\",\"specialties\":[{\"id\":99}]}");
        clinic.status(404, "PUT", "/vets/99", "{\"firstName\":\"Zoe\",\"lastName\":\"Vet\",\"specialties\":[{\"id\":99}]}");
        clinic.status(400, "PUT", "/vets/1", "{\"firstName\":\"Zoe\",\"lastName\":\"Vet\",\"specialties\":[{\"id\":99}]}");
        clinic.status(400, "POST", "/vets", "{\"firstName\":\"Zo\u00eb\",\"lastName\":\"Vet\"}");
        int specialty = clinic.add("/specialties", "{\"id\":5,\"name\":\"s\"}", "specialties");
        clinic.status(204, "PUT", "/specialties/" + specialty, "{\"name\":\"t\"}");
        assertEquals("t", clinic.one("/specialties/" + specialty).get("name"));
        clinic.status(204, "DELETE", "/specialties/2", null);
        assertEquals(List.of(Map.of("id", 3, "name", "dentistry")), clinic.one("/vets/" + id).get("specialties"));
        clinic.status(204, "DELETE", "/vets/" + id, null);
        clinic.status(404, "DELETE", "/vets/" + id, null);
        clinic.status(404, "DELETE", "/specialties/2", null);
        clinic.status(404, "PUT", "/specialties/2", "{\"name\":\"t\"}");
    }

    private static void deletions(Clinic clinic) throws Exception {
        clinic.status(400, "POST", "/pettypes", "{\"id\":9,\"name\":\"fish\"}");
        clinic.status(400, "POST", "/pettypes", "{\"name\":\"" + "f".repeat(81) + "\"}");
        int fish = clinic.add("/pettypes", "{\"name\":\"fish\"}", "pettypes");
        clinic.status(204, "PUT", "/pettypes/" + fish, "{\"id\":1,\"name\":\"shark\"}");
        assertEquals("shark", clinic.one("/pettypes/" + fish).get("name"));
        clinic.status(404, "PUT", "/pettypes/99", "{\"name\":\"shark\"}");
        clinic.status(204, "DELETE", "/owners/6", null);
        clinic.status(404, "GET", "/visits", null);
        clinic.status(404, "GET", "/pets/8", null);
        clinic.status(404, "DELETE", "/owners/6", null);
        clinic.status(204, "DELETE", "/pettypes/2", null);
        clinic.status(404, "GET", "/pets/10", null);
        assertEquals(List.of(), clinic.one("/owners/8").get("pets"));
        for (int vet = 1; vet <= 6; vet++) {
            clinic.status(204, "DELETE", "/vets/" + vet, null);
        }
        clinic.status(404, "GET", "/vets", null);
    }

    @Test
    void postgresKeepsRowsToo() throws Exception {
        assumeTrue(Postgres.isInstalled(), "PostgreSQL 15 is not installed");
        try (Postgres server = Postgres.start()) {
            String store = "{\"kind\":\"postgres\",\"url\":\"" + server.url() + "\",\"pool\":4}";
            for (String repository : new String[] {"jpa", "jdbc"}) {
                try (Clinic clinic = Clinic.start(store, "{\"repository\":\"" + repository + "\"}")) {
                    check(clinic);
                }
            }
            try (Clinic clinic = Clinic.start(store, "{}")) {
                check(clinic);
                server.crash();
                Bench.Reply gone = clinic.call("GET", "/pettypes", null);
                assertEquals("503 {\"className\":\"wirelab.service.contract.StoreUnavailable\",\"exMessage\":\"database unavailable\"}", gone.status() + " " + gone.text());
                server.resume();
                // The server may still replay its log when the first calls come.
                for (int tries = 0; clinic.call("GET", "/pettypes", null).status() == 503; tries++) {
                    assertTrue(tries < 100, "no recovery within 10 s");
                    Thread.sleep(100);
                }
                assertTrue(clinic.all("/pettypes").size() > 1);
            }
        }
    }

    @Test
    void aRequestThatIsNotACallOfAnOperationIsRefused() throws Exception {
        try (Clinic clinic = Clinic.start("{}", "{}")) {
            Bench bench = clinic.bench();
            assertEquals(404, bench.http("GET /petclinic/api/nothing HTTP/1.1", null).status());
            assertEquals(404, bench.http("GET /petclinic/api/vets/ HTTP/1.1", null).status());
            for (String method : new String[] {"HEAD", "OPTIONS", "PATCH", "DELETE"}) {
                Bench.Reply reply = bench.http(method + " /petclinic/api/vets HTTP/1.1", null);
                assertEquals(405, reply.status(), method);
                assertTrue(reply.head().contains("Allow: ") && reply.head().contains("POST"), reply.head());
                if (!method.equals("HEAD")) {
                    assertTrue(reply.head().contains("application/json"), reply.head());
                }
            }
            assertEquals(406, bench.http("GET /petclinic/api/vets HTTP/1.1\r\nAccept: text/html", null).status());
            assertEquals(415, bench.http("POST /petclinic/api/vets HTTP/1.1", "{}".getBytes()).status());
            clinic.status(404, "GET", "/vets/7", null);
            clinic.status(400, "POST", "/vets", "{}");
            assertEquals(List.of(1L, 1L), List.of(bench.counts("GetVet")[1], bench.counts("AddVet")[1]));
        }
    }
}
