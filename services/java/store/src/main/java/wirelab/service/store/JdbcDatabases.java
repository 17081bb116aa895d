package wirelab.service.store;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import wirelab.service.Configuration;
import wirelab.service.Databases;
import wirelab.service.Refusal;
import wirelab.service.contract.RecordStore;

/** Databases over JDBC. */
public final class JdbcDatabases implements Databases {
    @Override
    public RecordStore openRecords(Configuration.Database database) throws Refusal {
        HikariDataSource pool = ConnectionPool.open(database);
        try {
            return DatabaseRecordStore.reset(pool);
        } catch (SQLException | RuntimeException error) {
            pool.close();
            throw ConnectionPool.unusable(database, error);
        }
    }
}
