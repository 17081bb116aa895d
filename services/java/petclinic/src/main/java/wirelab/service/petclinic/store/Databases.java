package wirelab.service.petclinic.store;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.contract.Petclinic;
import wirelab.service.store.ConnectionPool;

/** The database of a configuration and the way to its rows. */
public final class Databases {
    private Databases() {}

    /** Connects and makes the tables anew; null where rows are kept in memory. */
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
        model.keeps(ConnectionPool.shown(pool), pool::close);
        return pool;
    }

    /** Spring's configuration of the option {@code repository}; empty where rows are kept in memory. */
    public static Optional<Class<?>> configuration(Configuration configuration) {
        if (configuration.store().database().isMemory()) {
            return Optional.empty();
        }
        return Optional.of(SpringDataConfiguration.class);
    }

    /** Classes between the service and the driver that work for every call. */
    public static List<String> workers(Configuration configuration) {
        List<String> workers = new ArrayList<>();
        if (!configuration.store().database().isMemory()) {
            workers.add("org.springframework.data.jpa.repository.support.SimpleJpaRepository");
            workers.add("org.hibernate.internal.SessionImpl");
        }
        return workers;
    }
}
