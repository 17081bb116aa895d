package wirelab.service.petclinic.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import wirelab.petclinic.v1.AddOwnerRequest;
import wirelab.petclinic.v1.AddPetToOwnerRequest;
import wirelab.petclinic.v1.AddPetTypeRequest;
import wirelab.petclinic.v1.AddVisitToOwnerRequest;
import wirelab.petclinic.v1.DeleteOwnerRequest;
import wirelab.petclinic.v1.GetOwnerRequest;
import wirelab.petclinic.v1.GetPetRequest;
import wirelab.petclinic.v1.GetVetRequest;
import wirelab.petclinic.v1.ListOwnersRequest;
import wirelab.petclinic.v1.Owner;
import wirelab.petclinic.v1.Pet;
import wirelab.petclinic.v1.PetType;
import wirelab.petclinic.v1.PetclinicGrpc;
import wirelab.petclinic.v1.Specialty;
import wirelab.petclinic.v1.UpdateVetRequest;
import wirelab.service.Address;
import wirelab.service.Bench;

/** {@code petclinic} over gRPC, by every way to its rows. */
class PetclinicGrpcTest {
    @ParameterizedTest
    @CsvSource({
        "memory,,on", "memory,,off", "h2,data-jpa,on", "h2,jpa,off", "h2,jdbc,off", "hsqldb,jdbc,on", "hsqldb,data-jpa,off"
    })
    void rowsAreReadAndChanged(String kind, String repository, String mapper) throws Exception {
        String options = "{\"mapper\":\"" + mapper + "\""
                + (repository == null ? "" : ",\"repository\":\"" + repository + "\"") + "}";
        String more = "\"store\":{\"kind\":\"" + kind + "\"},\"options\":" + options;
        try (Bench bench = Bench.start("petclinic", "{\"binding\":\"grpc\"}", more)) {
            ManagedChannel channel =
                    NettyChannelBuilder.forAddress(Address.internet(bench.running().address())).usePlaintext().build();
            try {
                check(PetclinicGrpc.newBlockingStub(channel));
                assertEquals(List.of(1L, 1L), List.of(bench.counts("AddPetType")[0], bench.counts("AddPetType")[1]));
            } finally {
                channel.shutdownNow();
            }
        }
    }

    private static void check(PetclinicGrpc.PetclinicBlockingStub stub) {
        List<Owner> davis = stub.listOwners(ListOwnersRequest.newBuilder().setLastName("Davis").build()).getOwnersList();
        assertEquals(List.of(2, 4), davis.stream().map(Owner::getId).toList());
        Owner ann = stub.addOwner(AddOwnerRequest.newBuilder().setFirstName("Ann").setLastName("Davies")
                .setAddress("1 Way").setCity("York").setTelephone("123").build());
        assertTrue(ann.getId() > 10);
        Pet rex = stub.addPetToOwner(AddPetToOwnerRequest.newBuilder().setOwnerId(ann.getId()).setName("Rex")
                .setBirthDate("2024-02-29").setType(PetType.newBuilder().setId(2)).build());
        assertEquals("dog", rex.getType().getName());
        stub.addVisitToOwner(AddVisitToOwnerRequest.newBuilder().setOwnerId(ann.getId()).setPetId(rex.getId())
                .setDate("2024-03-01").setDescription("rabies shot").build());
        Owner read = stub.getOwner(GetOwnerRequest.newBuilder().setId(ann.getId()).build());
        assertEquals("2024-03-01", read.getPets(0).getVisits(0).getDate());
        stub.updateVet(UpdateVetRequest.newBuilder().setId(1).setFirstName("James").setLastName("Carter")
                .addSpecialties(Specialty.newBuilder().setId(1)).build());
        assertEquals("radiology", stub.getVet(GetVetRequest.newBuilder().setId(1).build()).getSpecialties(0).getName());
        stub.deleteOwner(DeleteOwnerRequest.newBuilder().setId(ann.getId()).build());
        assertRefused(Status.Code.NOT_FOUND, "not found",
                () -> stub.getPet(GetPetRequest.newBuilder().setId(rex.getId()).build()));
        assertRefused(Status.Code.INVALID_ARGUMENT, "invalid request",
                () -> stub.addPetType(AddPetTypeRequest.newBuilder().setName("x".repeat(81)).build()));
    }

    private static void assertRefused(Status.Code code, String text, Executable call) {
        Status status = assertThrows(StatusRuntimeException.class, call).getStatus();
        assertEquals(code, status.getCode());
        assertEquals(text, status.getDescription());
    }

    @Test
    void librariesFollowFromTheOptions() throws Exception {
        List<String> rows = Bench.libraries("petclinic", "{\"binding\":\"grpc\"}",
                "\"store\":{\"kind\":\"h2\"},\"options\":{\"repository\":\"jdbc\"}");
        for (String library : new String[] {"server grpc-netty-shaded", "server hibernate-validator", "store spring-jdbc"}) {
            assertTrue(rows.stream().anyMatch(row -> row.startsWith(library)), rows.toString());
        }
        assertTrue(rows.stream().noneMatch(row -> row.contains("hibernate-core")), rows.toString());
    }
}
