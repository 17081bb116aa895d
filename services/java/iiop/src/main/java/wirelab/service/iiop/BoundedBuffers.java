package wirelab.service.iiop;

import org.jacorb.config.Configuration;
import org.jacorb.orb.BufferManager;
import org.jacorb.orb.DefaultBufferManagerFactory;
import org.jacorb.orb.IBufferManager;
import org.omg.CORBA.NO_MEMORY;

/**
 * Buffers that end at the bound of a message. JacORB makes one of the size that a message's header
 * announces before any more of it is there, and by itself of any size; where it gets none, it ends
 * the connection.
 */
public final class BoundedBuffers extends DefaultBufferManagerFactory {
    /** Of one message. */
    static final int MESSAGE_BYTES_MAX = 128 << 20;

    @Override
    public IBufferManager newBufferManager(IBufferManager shared, Configuration configuration) {
        return new Bounded(configuration);
    }

    private static final class Bounded extends BufferManager {
        Bounded(Configuration configuration) {
            super(configuration);
        }

        @Override
        public byte[] getBuffer(int size) {
            if (size < 0 || size > MESSAGE_BYTES_MAX) {
                throw new NO_MEMORY("a message has at most " + MESSAGE_BYTES_MAX + " bytes");
            }
            return super.getBuffer(size);
        }
    }
}
