package wirelab.service.web;

import java.util.concurrent.Executor;

import org.apache.catalina.connector.Connector;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;

/** Ends a connector: no new calls, and time for those in flight. */
public final class Drain {
    private static final long LOOK_EVERY_MS = 5;

    private Drain() {}

    /** Returns when no call is in flight any more, or after the grace. */
    public static void await(Connector connector, long graceMs) {
        connector.pause();
        if (connector.getProperty("unixDomainSocketPath") == null) {
            // Of a Unix socket Tomcat would remove the path here, and miss it when it stops.
            connector.getProtocolHandler().closeServerSocketGraceful();
        }
        long deadline = System.nanoTime() + graceMs * 1_000_000;
        Executor executor = connector.getProtocolHandler().getExecutor();
        while (executor instanceof ThreadPoolExecutor pool && pool.getActiveCount() > 0
                && System.nanoTime() < deadline) {
            pause();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(LOOK_EVERY_MS);
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
        }
    }
}
