package wirelab.service.iiop;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;

/**
 * A connection's bytes, until the messages that it has begun in fragments and not ended are together
 * larger than one message may be: JacORB collects fragments without a bound. Fragments of GIOP 1.2
 * (CORBA 3.3 part 2, sections 9.4.1 and 9.4.9) name their request; of 1.1 JacORB takes none.
 */
final class BoundedFragments extends FilterInputStream {
    private static final int HEADER = 12;
    private static final int REQUEST_ID = 4;
    private static final int FRAGMENT = 7;
    private static final int LITTLE_ENDIAN = 1;
    private static final int MORE = 2;

    /** Memory that an incomplete message takes in addition to its bytes. */
    private static final long BEGUN_BYTES = 1024;

    private final long bytesMax;
    private final ByteBuffer head = ByteBuffer.allocate(HEADER + REQUEST_ID);
    private final Map<Integer, Long> unfinished = new HashMap<>();
    private long held;
    private long passing;

    BoundedFragments(InputStream source, long bytesMax) {
        super(source);
        this.bytesMax = bytesMax;
        head.limit(HEADER);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        int count = super.read(into, offset, length);
        if (count > 0) {
            look(ByteBuffer.wrap(into, offset, count));
        }
        return count;
    }

    @Override
    public long skip(long count) throws IOException {
        // Nothing may pass unseen.
        return Math.max(0, read(new byte[(int) Math.min(count, 4096)]));
    }

    @Override
    public boolean markSupported() {
        return false;
    }

    private void look(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            if (passing > 0) {
                int pass = (int) Math.min(passing, bytes.remaining());
                bytes.position(bytes.position() + pass);
                passing -= pass;
                continue;
            }
            head.put(bytes.get());
            if (!head.hasRemaining()) {
                understand();
            }
        }
    }

    private void understand() throws IOException {
        int flags = head.get(6);
        head.order((flags & LITTLE_ENDIAN) != 0 ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
        long size = Integer.toUnsignedLong(head.getInt(8));
        boolean more = (flags & MORE) != 0;
        boolean isPart = (more || head.get(7) == FRAGMENT) && size >= REQUEST_ID;
        if (isPart && head.limit() == HEADER) {
            head.limit(HEADER + REQUEST_ID);
            return;
        }
        if (isPart) {
            count(head.getInt(HEADER), size, more);
        }
        passing = size - (isPart ? REQUEST_ID : 0);
        head.clear().limit(HEADER);
    }

    private void count(int request, long size, boolean more) throws IOException {
        if (!more) {
            Long whole = unfinished.remove(request);
            held -= whole == null ? 0 : whole;
            return;
        }
        long added = unfinished.containsKey(request) ? size : size + BEGUN_BYTES;
        unfinished.merge(request, added, Long::sum);
        held += added;
        if (held > bytesMax) {
            throw new IOException("messages in fragments may have at most " + bytesMax + " bytes together");
        }
    }
}
