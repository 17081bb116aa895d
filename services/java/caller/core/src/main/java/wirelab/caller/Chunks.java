package wirelab.caller;

import java.util.Arrays;

/** The data of a stream, and how many bytes of it are in a chunk; the last may have fewer. */
public record Chunks(byte[] data, int size) {
    /** How many there are. */
    public int count() {
        return (data.length + size - 1) / size;
    }

    /** Chunk {@code at}, from 0. */
    public byte[] get(int at) {
        return Arrays.copyOfRange(data, at * size, Math.min(data.length, (at + 1) * size));
    }

    /** The check of chunk {@code at} of a reply. */
    public void check(int at, byte[] received) throws Failure {
        if (at >= count()) {
            throw Failure.wrong("chunk " + at + ", but there are " + count());
        }
        Difference.check("data of chunk " + at, get(at), received);
    }

    /** The check of a reply that ended after that many chunks. */
    public void checkEnd(int received) throws Failure {
        if (received != count()) {
            throw Failure.wrong(received + " chunks, not " + count());
        }
    }
}
