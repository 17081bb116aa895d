package wirelab.service.petclinic;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Message;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import wirelab.petclinic.v1.AddPetRequest;
import wirelab.petclinic.v1.AddPetTypeRequest;
import wirelab.petclinic.v1.AddVetRequest;
import wirelab.petclinic.v1.Owners;
import wirelab.petclinic.v1.Pet;
import wirelab.petclinic.v1.PetType;
import wirelab.petclinic.v1.Specialty;
import wirelab.petclinic.v1.UpdatePetTypeRequest;
import wirelab.petclinic.v1.Vet;
import wirelab.service.Bench;

/** Both codecs, each with and without data transfer objects between messages and entities. */
class CodecsTest {
    private static final String TOO_LONG = "x".repeat(81);

    @Test
    void jsonIsTheSameWithAndWithoutDataTransferObjects() throws Exception {
        try (Clinic mapped = Clinic.start("{\"kind\":\"h2\"}", "{\"mapper\":\"on\"}")) {
            try (Clinic direct = Clinic.start("{}", "{\"mapper\":\"off\"}")) {
                for (String path : new String[] {"/pettypes", "/owners", "/pets", "/vets", "/specialties", "/visits", "/owners/6/pets/8"}) {
                    assertEquals(mapped.text(path), direct.text(path), path);
                }
                OperationsTest.check(direct);
            }
        }
    }

    @Test
    void entitiesOfADatabaseAreWrittenDirectly() throws Exception {
        try (Clinic clinic = Clinic.start("{\"kind\":\"h2\"}", "{\"mapper\":\"off\"}")) {
            OperationsTest.check(clinic);
        }
    }

    @ParameterizedTest
    @CsvSource({"on,memory", "off,memory", "on,h2", "off,h2"})
    void messagesOfProtocolBuffersAreReadAndWritten(String mapper, String store) throws Exception {
        try (Clinic clinic = protobuf(store, "{\"mapper\":\"" + mapper + "\"}")) {
            Owners owners = Owners.parseFrom(ok(200, clinic, "GET /petclinic/api/owners?lastName=Davis", null));
            assertEquals(List.of(2, 4), owners.getOwnersList().stream().map(owner -> owner.getId()).toList());
            assertEquals("2012-08-06", owners.getOwners(0).getPets(0).getBirthDate());
            Pet pet = Pet.parseFrom(ok(200, clinic, "POST /petclinic/api/pets", AddPetRequest.newBuilder()
                    .setName("Rex").setBirthDate("2024-02-29").setOwnerId(1).setType(PetType.newBuilder().setId(2))
                    .build()));
            assertEquals("dog", pet.getType().getName());
            assertArrayEquals(pet.toByteArray(), ok(200, clinic, "GET /petclinic/api/owners/1/pets/" + pet.getId(), null));
            Vet vet = Vet.parseFrom(ok(201, clinic, "POST /petclinic/api/vets", AddVetRequest.newBuilder()
                    .setFirstName("Zoe").setLastName("Vet")
                    .addSpecialties(Specialty.newBuilder().setId(2)).addSpecialties(Specialty.newBuilder().setId(3))
                    .build()));
            assertEquals(List.of("dentistry", "surgery"),
                    vet.getSpecialtiesList().stream().map(Specialty::getName).toList());
            byte[] empty = ok(204, clinic, "PUT /petclinic/api/pettypes/1",
                    UpdatePetTypeRequest.newBuilder().setId(5).setName("lion").build());
            assertEquals(0, empty.length);
            assertEquals("lion", PetType.parseFrom(ok(200, clinic, "GET /petclinic/api/pettypes/1", null)).getName());
            Message longName = AddPetTypeRequest.newBuilder().setName(TOO_LONG).build();
            assertTrue(new String(ok(400, clinic, "POST /petclinic/api/pettypes", longName)).endsWith("invalid request"));
            assertEquals(0, ok(404, clinic, "GET /petclinic/api/pets/99", null).length);
        }
    }

    @Test
    void bytesThatAreNotAMessageAreRefused() throws Exception {
        try (Clinic clinic = protobuf("memory", "{}")) {
            Bench bench = clinic.bench();
            String type = "\r\nContent-Type: application/x-protobuf";
            Bench.Reply reply = bench.http("POST /petclinic/api/vets HTTP/1.1" + type, new byte[] {8});
            assertEquals(400, reply.status());
            assertTrue(reply.head().contains("\r\nerrors: "), reply.head());
            reply = bench.http("POST /petclinic/api/vets HTTP/1.1\r\nContent-Type: application/json", "{}".getBytes());
            assertEquals(415, reply.status());
        }
    }

    @ParameterizedTest
    @CsvSource({"json,on", "json,off", "protobuf,on", "protobuf,off"})
    void withoutValidationLimitsAreNotChecked(String codec, String mapper) throws Exception {
        String options = "{\"validation\":\"off\",\"mapper\":\"" + mapper + "\"}";
        try (Clinic clinic = codec.equals("json") ? Clinic.start("{\"kind\":\"h2\"}", options) : protobuf("h2", options)) {
            for (String name : new String[] {"", TOO_LONG}) {
                byte[] body = codec.equals("json")
                        ? ("{\"name\":\"" + name + "\"}").getBytes()
                        : AddPetTypeRequest.newBuilder().setName(name).build().toByteArray();
                assertEquals(201, clinic.post("/pettypes", codec, body).status());
            }
            byte[] noDay = codec.equals("json")
                    ? "{\"name\":\"Rex\",\"birthDate\":\"2023-02-29\",\"type\":{\"id\":1},\"ownerId\":1}".getBytes()
                    : AddPetRequest.newBuilder().setName("Rex").setBirthDate("2023-02-29").setOwnerId(1)
                            .setType(PetType.newBuilder().setId(1)).build().toByteArray();
            assertEquals(400, clinic.post("/pets", codec, noDay).status());
            byte[] beyondTheColumn = codec.equals("json")
                    ? ("{\"name\":\"" + "x".repeat(500) + "\"}").getBytes()
                    : AddPetTypeRequest.newBuilder().setName("x".repeat(500)).build().toByteArray();
            assertEquals(400, clinic.post("/pettypes", codec, beyondTheColumn).status());
        }
    }

    @ParameterizedTest
    @CsvSource({"json,on,memory", "json,off,memory", "protobuf,on,memory", "protobuf,off,memory",
            "json,on,hsqldb", "json,off,hsqldb", "protobuf,on,hsqldb", "protobuf,off,hsqldb"})
    void whatIsTimedAreTheBytesOfTheReply(String codec, String mapper, String store) throws Exception {
        try (Clinic clinic = Clinic.startKeeping(codec, store, "{\"mapper\":\"" + mapper + "\"}")) {
            for (String[] call : new String[][] {
                {"ListPetTypes", "/pettypes"}, {"ListOwners", "/owners"}, {"ListVets", "/vets"}, {"ListPets", "/pets"},
                {"ListSpecialties", "/specialties"}, {"ListVisits", "/visits"}, {"GetPetType", "/pettypes/1"},
                {"GetOwner", "/owners/6"}, {"GetVet", "/vets/3"}, {"GetPet", "/pets/8"}, {"GetSpecialty", "/specialties/1"},
                {"GetVisit", "/visits/1"}, {"GetOwnersPet", "/owners/6/pets/8"}}) {
                assertArrayEquals(clinic.call("GET", call[1], null).body(), clinic.bench().encodeAgain(call[0]), call[0]);
            }
            byte[] name = codec.equals("json") ? "{\"name\":\"lion\"}".getBytes()
                    : AddPetTypeRequest.newBuilder().setName("lion").build().toByteArray();
            assertArrayEquals(clinic.post("/pettypes", codec, name).body(), clinic.bench().encodeAgain("AddPetType"));
        }
    }

    private static Clinic protobuf(String store, String options) throws Exception {
        return Clinic.start("protobuf", "{\"kind\":\"" + store + "\"}", options);
    }

    private static byte[] ok(int status, Clinic clinic, String line, Message body) throws Exception {
        Bench.Reply reply = clinic.bench().http(
                line + " HTTP/1.1" + (body == null ? "" : "\r\nContent-Type: application/x-protobuf"),
                body == null ? null : body.toByteArray());
        assertEquals(status, reply.status(), line + ": " + reply.text());
        assertEquals(reply.body().length > 0, reply.head().contains("Content-Type: application/x-protobuf\r\n"), reply.head());
        return reply.body();
    }
}
