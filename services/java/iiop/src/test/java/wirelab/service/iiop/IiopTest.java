package wirelab.service.iiop;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.omg.CORBA.ORB;
import wirelab.calendar_v1.Calendar;
import wirelab.calendar_v1.CalendarHelper;
import wirelab.calendar_v1.Entry;
import wirelab.charging_v1.Charging;
import wirelab.charging_v1.ChargingHelper;
import wirelab.charging_v1.ReserveReply;
import wirelab.service.Bench;
import wirelab.service.contract.Text;
import wirelab.transfer_v1.ApplicationError;
import wirelab.transfer_v1.Record;
import wirelab.transfer_v1.SubmitReply;
import wirelab.transfer_v1.Transfer;
import wirelab.transfer_v1.TransferHelper;

/** IIOP over real connections, by stubs in an ORB of their own and by raw bytes. */
class IiopTest {
    private static final String STACK = "{\"binding\":\"iiop\"}";

    private final ORB caller = ORB.init(new String[0], IiopBinding.common());

    @Test
    void textsOfAllScriptsErrorsAndLargeMessages() throws Exception {
        try (Bench bench = Bench.start("transfer", STACK)) {
            Transfer transfer = TransferHelper.narrow(caller.string_to_object(bench.running().ior()));
            assertEquals("Hello, wirelab", transfer.hello().text);
            assertArrayEquals("Hello, wirelab".getBytes(), transfer.helloBytes().text);
            SubmitReply reply = transfer.submit("Größe ナット 🔩", new Record[] {
                new Record(Long.MIN_VALUE, 0, "x", ""), new Record(2, Integer.MAX_VALUE, "écrou", "在庫なし"),
            });
            assertEquals("Größe ナット 🔩", reply.batch);
            assertEquals(Integer.MAX_VALUE, reply.quantity_total);
            assertEquals(Long.MIN_VALUE, reply.refused[0].id);
            assertEquals("quantity must be positive", reply.refused[0].reason);
            ApplicationError error =
                    assertThrows(ApplicationError.class, () -> transfer.submit("", new Record[0]));
            assertEquals("batch must not be empty", error.message);
            byte[] data = Text.pattern(0, 3_000_000);
            assertEquals(3_000_000, transfer.upload(data).length);
            assertEquals(1, bench.counts("Submit")[1]);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void nagleIsThatOfTheServicesCallToItself(boolean nagle) throws Exception {
        try (Bench bench = Bench.start("transfer", STACK, "\"socket\":{\"nagle\":" + nagle + "}")) {
            assertEquals(nagle, bench.running().set().get("nagle"));
        }
    }

    @Test
    void calendarAndItsEntries() throws Exception {
        try (Bench bench = Bench.start("calendar", STACK)) {
            Calendar calendar = CalendarHelper.narrow(caller.string_to_object(bench.running().ior()));
            assertEquals(47, calendar.book("o", 1, 47, "会議", true, 0.1, "").number);
            Entry entry = calendar.entries("o", 1).entries[0];
            assertEquals("会議", entry.title);
            assertEquals(0.1, entry.weight);
            assertEquals(0, calendar.entries("o", 2).entries.length);
            assertEquals("weight must be finite", assertThrows(wirelab.calendar_v1.ApplicationError.class,
                    () -> calendar.book("o", 1, 1, "t", true, Double.NaN, "")).message);
        }
    }

    @Test
    void aHandWrittenRequestIsAnsweredAndGarbageIsSurvived() throws Exception {
        try (Bench bench = Bench.start("charging", STACK, "\"store\":{\"accounts\":1,\"balance\":100}")) {
            Charging charging = ChargingHelper.narrow(caller.string_to_object(bench.running().ior()));
            bench.exchange("GET / HTTP/1.1\r\n\r\n".getBytes());
            bench.exchange(HexFormat.of().parseHex("47494f5001020000ffffffff00000000"));
            bench.exchange(HexFormat.of().parseHex("47494f50010201000800000001000000"));
            ReserveReply made = charging.reserve(1, 60);
            assertTrue(made.res > 0 && made.cn > 0);
            assertEquals(100, charging.creditControl(1).balance);
            byte[] answer = bench.exchange(locate("no such key".getBytes(StandardCharsets.US_ASCII)));
            assertEquals("GIOP", new String(answer, 0, 4, StandardCharsets.US_ASCII));
            assertEquals(4, answer[7], "a LocateReply");
            assertEquals(100, charging.creditControl(1).balance);
        }
    }

    /** LocateRequest of GIOP 1.2 (CORBA 3.3 part 2, section 9.4.5), big-endian. */
    private static byte[] locate(byte[] key) {
        ByteBuffer message = ByteBuffer.allocate(12 + 12 + key.length);
        message.put("GIOP".getBytes()).put((byte) 1).put((byte) 2).put((byte) 0).put((byte) 3);
        message.putInt(12 + key.length).putInt(7).putInt(0).putInt(key.length).put(key);
        return message.array();
    }
}
