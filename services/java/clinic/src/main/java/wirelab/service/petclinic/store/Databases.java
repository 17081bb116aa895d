package wirelab.service.petclinic.store;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.contract.Petclinic;
import wirelab.service.petclinic.store.jdbc.JdbcConfiguration;
import wirelab.service.petclinic.store.jpa.JpaConfiguration;
import wirelab.service.petclinic.store.jpa.SpringDataConfiguration;
import wirelab.service.store.ConnectionPool;

/** The database of a configuration and the way to its rows. */
public final class Databases {
    private static final String HIBERNATE = "org.hibernate.internal.SessionImpl";

    /** Warn of transactions that fail, whose calls are answered so, and of a dialect that is named. */
    private static final List<Logger> QUIET = List.of(
            Logger.getLogger("org.springframework.transaction"),
            Logger.getLogger("org.hibernate.orm.deprecation"),
            Logger.getLogger("org.hibernate.engine.jdbc.spi.SqlExceptionHelper"));

    private Databases() {}

    /** Silences libraries where an outage is logged once. */
    public static void quieten() {
        QUIET.forEach(logger -> logger.setLevel(Level.OFF));
    }

    /** Connects and creates the tables again; null where rows are kept in memory. */
    public static HikariDataSource open(Configuration configuration, Petclinic model) throws Refusal {
        Configuration.Database database = configuration.store().database();
        if (database.isMemory()) {
            return null;
        }
        HikariDataSource pool = ConnectionPool.open(database);
        try {
            Schema.reset(pool, database.kind());
        } catch (SQLException error) {
            pool.close();
            throw ConnectionPool.unusable(database, error);
        }
        model.keeps(ConnectionPool.toStorePool(pool), pool::close);
        return pool;
    }

    /** Spring's configuration of the option {@code repository}; empty where rows are kept in memory. */
    public static Optional<Class<?>> configuration(Configuration configuration) {
        if (configuration.store().database().isMemory()) {
            return Optional.empty();
        }
        return Optional.of(switch (configuration.options().repository()) {
            case "data-jpa" -> SpringDataConfiguration.class;
            case "jpa" -> JpaConfiguration.class;
            default -> JdbcConfiguration.class;
        });
    }

    /** Classes between the service and the driver that work for every call. */
    public static List<String> workers(Configuration configuration) {
        if (configuration.store().database().isMemory()) {
            return List.of();
        }
        return switch (configuration.options().repository()) {
            case "data-jpa" -> List.of("org.springframework.data.jpa.repository.support.SimpleJpaRepository", HIBERNATE);
            case "jpa" -> List.of("org.springframework.orm.jpa.SharedEntityManagerCreator", HIBERNATE);
            default -> List.of("org.springframework.jdbc.core.JdbcTemplate");
        };
    }
}
