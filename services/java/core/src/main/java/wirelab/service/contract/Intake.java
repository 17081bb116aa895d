package wirelab.service.contract;

import static wirelab.service.contract.ApplicationError.unless;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import wirelab.service.contract.message.StreamMessages.PushReply;

/** Checks the items of a client, and sums them up. */
public final class Intake {
    private final MessageDigest digest = Text.sha256();
    private int count;
    private long bytes;

    /** Takes an item. */
    public void add(int index, String text) throws ApplicationError {
        unless(index == count, "items must be numbered from 0 without gaps");
        unless(count < Stream.ITEMS_MAX, "at most 1000000 items");
        byte[] octets = text.getBytes(StandardCharsets.UTF_8);
        unless(octets.length <= Stream.TEXT_BYTES_MAX, "at most 65536 bytes in a text");
        unless(bytes + octets.length <= Stream.BYTES_MAX, "at most 1073741824 bytes");
        count++;
        bytes += octets.length;
        digest.update(octets);
    }

    /** What Push answers; to be called once. */
    public PushReply reply() {
        return new PushReply(count, bytes, Text.hex(digest.digest()));
    }
}
