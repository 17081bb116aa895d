package wirelab.service.store;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import wirelab.service.contract.StoreUnavailable;

/** From a failed call to the next good one, so that an outage is logged once. */
public final class Outage {
    /** The beginnings of SQLSTATEs after which other connections are useless, too: no connection, server ends. */
    private static final List<String> LOST = List.of("08", "57P");

    private final AtomicBoolean failing = new AtomicBoolean();
    private final HikariDataSource pool;

    /** Of calls through that pool. */
    public Outage(HikariDataSource pool) {
        this.pool = pool;
    }

    /** A call was good. */
    public void end() {
        if (failing.get()) {
            failing.set(false);
        }
    }

    /** A call failed; what it is to be answered with. */
    public StoreUnavailable failed(Exception error) {
        if (failing.compareAndSet(false, true)) {
            System.err.println("calls are answered with \"" + StoreUnavailable.TEXT + "\": " + error);
        }
        if (isLost(error)) {
            // HikariCP trusts a connection that was used within the last half second.
            pool.getHikariPoolMXBean().softEvictConnections();
        }
        return new StoreUnavailable(error);
    }

    private static boolean isLost(Throwable error) {
        for (Throwable each = error; each != null; each = each.getCause()) {
            if (each instanceof SQLException sql && sql.getSQLState() != null
                    && LOST.stream().anyMatch(sql.getSQLState()::startsWith)) {
                return true;
            }
        }
        return false;
    }
}
