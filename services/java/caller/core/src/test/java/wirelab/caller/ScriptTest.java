package wirelab.caller;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import wirelab.service.contract.Records;
import wirelab.service.contract.Text;
import wirelab.service.contract.message.CalendarMessages.BookReply;
import wirelab.service.contract.message.CalendarMessages.BookRequest;
import wirelab.service.contract.message.CalendarMessages.EntriesReply;
import wirelab.service.contract.message.CalendarMessages.Entry;
import wirelab.service.contract.message.ChargingMessages.ConfirmActionReply;
import wirelab.service.contract.message.ChargingMessages.CreditControlReply;
import wirelab.service.contract.message.ChargingMessages.CreditReply;
import wirelab.service.contract.message.ChargingMessages.DebitReservationReply;
import wirelab.service.contract.message.ChargingMessages.DebitReservationRequest;
import wirelab.service.contract.message.ChargingMessages.ReserveReply;
import wirelab.service.contract.message.RecordsMessages.AllocateReply;
import wirelab.service.contract.message.RecordsMessages.CountAllocationsReply;
import wirelab.service.contract.message.RecordsMessages.FindAllocationReply;
import wirelab.service.contract.message.RecordsMessages.FindAllocationRequest;
import wirelab.service.contract.message.RecordsMessages.Team;
import wirelab.service.contract.message.TransferMessages.HelloReply;

class ScriptTest {
    private static final ObjectMapper MESSAGES =
            new ObjectMapper().disable(SerializationFeature.FAIL_ON_EMPTY_BEANS);

    private static Script script(String workload) throws IOException {
        return new Script(Plan.JSON.readValue(workload.replace('\'', '"'), Plan.Workload.class));
    }

    private static Call first(String contract, String operation) throws IOException {
        return script("{'kind':'contract','contract':'" + contract + "','operation':'" + operation + "'}")
                .begin(0, 0).next();
    }

    @Test
    void requestsAreThoseOfTheEngine() throws IOException {
        Path file = Path.of(System.getProperty("wirelab.contracts"), "vectors", "workloads.json");
        JsonNode rows = MESSAGES.readTree(file.toFile());
        assertTrue(rows.size() >= 20);
        for (JsonNode row : rows) {
            Call call = script(row.get("workload").toString())
                    .begin(row.get("user").asLong(), row.get("arrival").asLong()).next();
            String text = MESSAGES.writeValueAsString(call.request());
            String digest = Text.hex(Text.sha256().digest(text.getBytes(StandardCharsets.UTF_8)));
            assertEquals(row.get("sha256").asText(), digest, row::toString);
        }
    }

    @Test
    void aSequenceCarriesNumbersOfRepliesIntoRequests() throws Exception {
        Script.Arrival arrival =
                script("{'kind':'sequence','contract':'charging','function':'ReservationDebit'}").begin(1_007, 0);
        List<Object> replies = List.of(
                new ReserveReply(7, 1), new ConfirmActionReply(1), new DebitReservationReply(2),
                new ConfirmActionReply(2));
        StringBuilder asked = new StringBuilder();
        for (Object reply : replies) {
            Call call = arrival.next();
            asked.append(call.operation()).append(' ');
            if (call.request() instanceof DebitReservationRequest debit) {
                assertEquals(List.of(8, 520, 7), List.of(debit.id, debit.am, debit.res));
            }
            call.check(reply);
            arrival.take(reply);
        }
        assertEquals("Reserve ConfirmAction DebitReservation ConfirmAction ", asked.toString());
        assertNull(arrival.next());
    }

    @Test
    void aStepTakesAFieldOfAnyEarlierReply() throws IOException {
        Script.Arrival arrival = script("{'kind':'steps','contract':'records','steps':[{'operation':'Allocate'},"
                + "{'operation':'CountAllocations'},{'operation':'FindAllocation','carry':[{'step':0,"
                + "'from':'teamDetails.groupId','to':'groupId'}]}]}").begin(0, 0);
        Team team = new Team();
        team.groupId = 77;
        arrival.take(new AllocateReply("", team));
        arrival.take(new CountAllocationsReply(1));
        assertEquals(77, ((FindAllocationRequest) arrival.next().request()).groupId);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '#', value = {
        "'from':'cn','to':'number'|CreditControlRequest has no field number",
        "'from':'nr','to':'id'|CreditReply has no field nr",
        "'step':1,'from':'cn','to':'id'|there is no earlier step 1"
    })
    void carriedFieldsThatDoNotExistAreRefused(String carry, String said) {
        Refusal refused = assertThrows(Refusal.class, () -> script(
                "{'kind':'steps','contract':'charging','steps':[{'operation':'Credit'},"
                        + "{'operation':'CreditControl','carry':[{" + carry + "}]}]}"));
        assertTrue(refused.getMessage().contains(said), refused.getMessage());
    }

    private static void assertWrong(Call call, Object reply, String said) {
        Failure why = assertThrows(Failure.class, () -> call.check(reply));
        assertEquals("wrong", why.kind);
        assertTrue(why.getMessage().contains(said), why.getMessage());
    }

    @Test
    void repliesThatDependOnTheRequestAloneAreComparedInFull() throws IOException {
        Call book = first("calendar", "Book");
        assertDoesNotThrow(() -> book.check(new BookReply(0, "user0000@calendar.example.org", title(book))));
        assertWrong(book, new BookReply(1, "user0000@calendar.example.org", title(book)), "number is 1, not 0");
        assertWrong(book, new BookReply(0, "", title(book)), "owner has 0 characters, not 29");
        assertWrong(book, null, "there is no reply");
        Call find = first("records", "FindAllocation");
        assertDoesNotThrow(() -> find.check(new FindAllocationReply(Records.initialTeam(0))));
        assertWrong(find, new FindAllocationReply(null), "teamDetails is absent");
        assertWrong(find, new FindAllocationReply(Records.initialTeam(1)), "teamDetails.member1");
        assertWrong(first("transfer", "Hello"), new HelloReply("x"), "text has 1 characters, not 0");
    }

    private static String title(Call book) {
        return ((BookRequest) book.request()).title;
    }

    @Test
    void repliesThatDependOnEarlierCallsKeepTheirRules() throws IOException {
        assertDoesNotThrow(() -> first("charging", "Credit").check(new CreditReply(1)));
        assertWrong(first("charging", "Credit"), new CreditReply(0), "cn is 0, not 1 to 2147483647");
        assertWrong(first("charging", "Reserve"), new ReserveReply(1, 0), "cn is 0");
        assertWrong(first("charging", "CreditControl"), new CreditControlReply(2, 3), "reserved is 3, not 0 to 2");
        EntriesReply entries = new EntriesReply(List.of(new Entry(4, "", true, 1), new Entry(4, "", true, 1)));
        assertWrong(first("calendar", "Entries"), entries, "entries[1].slot is 4, not 5 to 47");
        assertWrong(first("records", "CountAllocations"), new CountAllocationsReply(10_000), "count is 10000");
        Team team = new Team("Alice", 113_517, "CS31245");
        team.join("Derek", 113_520);
        assertWrong(first("records", "Allocate"), new AllocateReply(Records.MESSAGE, team), "groupId is 0");
        team.groupId = 5;
        assertDoesNotThrow(() -> first("records", "Allocate").check(new AllocateReply(Records.MESSAGE, team)));
    }

    @Test
    void aDownloadIsCheckedChunkByChunk() throws Failure {
        Chunks chunks = new Chunks(Text.pattern(0, 10), 4);
        chunks.check(2, Text.pattern(8, 2));
        chunks.checkEnd(3);
        assertThrows(Failure.class, () -> chunks.checkEnd(2));
        assertThrows(Failure.class, () -> chunks.check(3, new byte[0]));
        assertThrows(Failure.class, () -> chunks.check(0, Text.pattern(0, 5)));
    }
}
