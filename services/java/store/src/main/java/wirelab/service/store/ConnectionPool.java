package wirelab.service.store;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.contract.StorePool;

/** Connections to a database, kept by HikariCP, with the timeouts of the configuration. */
public final class ConnectionPool {
    /** Names every broken connection with a stack trace; an outage is logged once instead. */
    private static final Logger HIKARI = Logger.getLogger("com.zaxxer.hikari");

    private ConnectionPool() {}

    /** Opens the first connection; refuses a database that cannot be reached. SQLite's file is removed first. */
    public static HikariDataSource open(Configuration.Database database) throws Refusal {
        HIKARI.setLevel(Level.OFF);
        HikariConfig config = new HikariConfig();
        int half = half(database);
        config.setConnectionTimeout(half);
        config.setValidationTimeout(half);
        if (database.pool() != null) {
            config.setMaximumPoolSize(database.pool());
        }
        try {
            configure(config, database);
            return new HikariDataSource(config);
        } catch (IOException | RuntimeException error) {
            throw unusable(database, error);
        }
    }

    /** A call may wait for a free connection and then for the database, and for both as long as is configured. */
    private static int half(Configuration.Database database) {
        return database.timeoutMs() / 2;
    }

    /** The refusal of a database that failed so. */
    public static Refusal unusable(Configuration.Database database, Exception error) {
        Throwable cause = error;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return new Refusal("store.url", "the database " + database.kind() + " cannot be used: " + cause.getMessage(),
                "start the database, or correct store.url");
    }

    private static void configure(HikariConfig config, Configuration.Database database) throws Refusal, IOException {
        switch (database.kind()) {
            case "sqlite" -> {
                removeSqlite(database.url());
                config.setJdbcUrl("jdbc:sqlite:" + database.url());
                config.addDataSourceProperty("journal_mode", "WAL");
                config.addDataSourceProperty("synchronous", "FULL");
                // Writers wait for one another instead of failing at once.
                config.addDataSourceProperty("busy_timeout", String.valueOf(half(database)));
                config.addDataSourceProperty("transaction_mode", "IMMEDIATE");
                config.addDataSourceProperty("foreign_keys", "true");
                // LIKE as in the other databases.
                config.setConnectionInitSql("PRAGMA case_sensitive_like = true");
            }
            case "h2" -> {
                config.setJdbcUrl("jdbc:h2:mem:wirelab;DB_CLOSE_DELAY=-1");
                config.setConnectionInitSql("SET QUERY_TIMEOUT " + half(database));
            }
            case "hsqldb" -> {
                // Snapshots of rows instead of locks on tables, HSQLDB's default.
                config.setJdbcUrl("jdbc:hsqldb:mem:wirelab;hsqldb.tx=mvcc");
                config.setUsername("SA");
            }
            default -> PostgresUrl.parse(database.url()).configure(config, half(database));
        }
    }

    /** Removes the file of an earlier service with its log and index. */
    private static void removeSqlite(String path) throws IOException {
        for (String suffix : new String[] {"", "-wal", "-shm"}) {
            Files.deleteIfExists(Path.of(path + suffix));
        }
    }

    /** What metrics and the ready line show of a pool. */
    public static StorePool toStorePool(HikariDataSource pool) {
        return new StorePool() {
            @Override
            public int max() {
                return pool.getMaximumPoolSize();
            }

            @Override
            public int inUse() {
                return pool.getHikariPoolMXBean().getActiveConnections();
            }

            @Override
            public int idle() {
                return pool.getHikariPoolMXBean().getIdleConnections();
            }
        };
    }
}
