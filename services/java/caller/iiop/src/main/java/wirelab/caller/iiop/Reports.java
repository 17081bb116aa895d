package wirelab.caller.iiop;

import org.jacorb.orb.giop.StatisticsProvider;
import org.jacorb.orb.listener.TCPConnectionEvent;
import org.jacorb.orb.listener.TCPConnectionListener;
import wirelab.caller.Connections;
import wirelab.caller.Stamps;

/** What JacORB reports of connections and messages, to classes that it makes itself by their names. */
public final class Reports {
    /** JacORB hands over nothing, so it is the process's: a process carries out one group. */
    private static volatile Connections connections = new Connections();

    /** A request is written by the thread that calls. */
    private static final ThreadLocal<Stamps> CALL = new ThreadLocal<>();

    private Reports() {}

    /** Who counts the connections from now on. */
    static void to(Connections counting) {
        connections = counting;
    }

    /** The call that this thread makes from now on; null: none. */
    static void of(Stamps at) {
        CALL.set(at);
    }

    /** Counts connections. */
    public static final class Sockets implements TCPConnectionListener {
        @Override
        public boolean isListenerEnabled() {
            return true;
        }

        @Override
        public void connectionOpened(TCPConnectionEvent event) {
            connections.opened();
        }

        @Override
        public void connectionClosed(TCPConnectionEvent event) {
            connections.closed();
        }
    }

    /** Stamps requests that were written. */
    public static final class Messages implements StatisticsProvider {
        @Override
        public void messageChunkSent(int bytes) {
            // The request is complete when it is flushed.
        }

        @Override
        public void flushed() {
            Stamps at = CALL.get();
            if (at != null) {
                at.flushed();
            }
        }

        @Override
        public void messageReceived(int bytes) {
            // By a thread of the connection, and not before the whole reply is there.
        }
    }
}
