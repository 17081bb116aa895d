package wirelab.caller;

import java.nio.charset.StandardCharsets;
import wirelab.service.contract.Text;
import wirelab.service.contract.message.TransferMessages.Record;
import wirelab.service.contract.message.TransferMessages.SubmitRequest;

/**
 * Makes requests of Submit that have a size to the byte as Protocol Buffers: the engine's of seed 0
 * ({@code crates/contract/src/workload.rs}), record by record.
 */
final class SubmitRequests {
    static final int BYTES_MIN = 100;
    static final int BYTES_MAX = 64 << 20;

    private static final int LAST_RECORD_BYTES_MIN = 40;
    /** A varint of a 32-bit length has 1 to 5 bytes. */
    private static final int PREFIX_GROWTH_MAX = 4;
    private static final int RECORDS_OF_HUGE = 50_000;
    private static final int RECORD_BYTES = 20;
    private static final int REFUSED_EVERY = 16;
    private static final int VARINT_BITS = 7;
    private static final int NEGATIVE_BYTES = 10;

    private static final String[] ITEMS = {
        "bolt M8", "écrou", "Blech 2 mm", "ナット", "гайка", "čep & kolík", "🔩", "tuerca \"fina\""
    };
    private static final String[] REMARKS = {
        "", "urgent", "für Halle 3", "C:\\stock\\7", "在庫なし", "<see drawing>", "la pièce n'est pas peinte",
        "ΔT ≤ 40 °C, 6 × 9"
    };

    private final int bytes;
    private final String filler;
    private long outputs;
    private int made;

    SubmitRequests(int bytes) {
        this.bytes = bytes;
        int perRecord = bytes / RECORDS_OF_HUGE;
        filler = perRecord > RECORD_BYTES ? ".".repeat(perRecord) : "";
    }

    SubmitRequest make() {
        SubmitRequest request = new SubmitRequest();
        request.batch = "B0-ü";
        int left = bytes - textLength(request.batch);
        while (true) {
            Record record = next();
            int size = fieldLength(record);
            // The last record fills up to the byte, for which it needs some room.
            if (size + LAST_RECORD_BYTES_MIN > left) {
                break;
            }
            left -= size;
            request.records.add(record);
        }
        addLast(request, left);
        return request;
    }

    private Record next() {
        Record record = new Record();
        record.id = integer(63);
        record.quantity = (int) Math.max(Math.abs(integer(31)), 1);
        record.item = word(ITEMS);
        record.remark = word(REMARKS) + filler;
        // The third of every sixteen, each reason in turn.
        if (made % REFUSED_EVERY == 2) {
            switch (made / REFUSED_EVERY % 3) {
                case 0 -> record.quantity = 0;
                case 1 -> record.item = "";
                default -> record.quantity = -record.quantity;
            }
        }
        made++;
        return record;
    }

    /**
     * A record that takes exactly {@code room} bytes of the request. Where a length prefix grows, one size
     * cannot be had; the batch's name then takes a byte.
     */
    private void addLast(SubmitRequest request, int room) {
        int left = room;
        Record record = new Record();
        record.id = Long.MAX_VALUE - 1;
        record.quantity = 1;
        record.item = word(ITEMS);
        for (int length = fieldLength(record); length != left; length = fieldLength(record)) {
            int near = 2 + 2 * PREFIX_GROWTH_MAX;
            record.remark += ".".repeat(Math.max(left - length - near, 1));
            if (fieldLength(record) > left) {
                record.remark = record.remark.substring(1);
                request.batch += "+";
                left--;
            }
        }
        request.records.add(record);
    }

    /** An integer of any magnitude up to that many bits; one in eight is negative. */
    private long integer(int bits) {
        long digits = output();
        long shape = output();
        long magnitude = digits >>> (Long.SIZE - bits + (int) Long.remainderUnsigned(shape, bits));
        return shape >>> 61 == 0 ? -magnitude : magnitude;
    }

    private String word(String[] words) {
        return words[(int) Long.remainderUnsigned(output(), words.length)];
    }

    private long output() {
        return Text.output(outputs++);
    }

    /** What a record takes as field 2 of a request: tag, length, message. */
    private static int fieldLength(Record record) {
        int length = numberLength(record.id) + numberLength(record.quantity)
                + textLength(record.item) + textLength(record.remark);
        return 1 + varintLength(length) + length;
    }

    /** Tag and number; nothing where it is 0. */
    private static int numberLength(long number) {
        if (number == 0) {
            return 0;
        }
        return 1 + (number < 0 ? NEGATIVE_BYTES : varintLength(number));
    }

    /** Tag, length and text; nothing where it is empty. */
    private static int textLength(String text) {
        int length = text.getBytes(StandardCharsets.UTF_8).length;
        return length == 0 ? 0 : 1 + varintLength(length) + length;
    }

    private static int varintLength(long number) {
        return Math.max(1, (Long.SIZE - Long.numberOfLeadingZeros(number) + VARINT_BITS - 1) / VARINT_BITS);
    }
}
