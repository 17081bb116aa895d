package wirelab.service.petclinic.store;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.util.function.Supplier;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import wirelab.service.contract.StoreUnavailable;
import wirelab.service.petclinic.ClinicError;
import wirelab.service.store.Outage;

/** Spring's transactions, and what failures of a database mean to a caller. */
final class Transactions {
    /** Class 23 of SQLSTATE: integrity constraint violation. */
    private static final String INTEGRITY = "23";

    /** SQLITE_CONSTRAINT; the driver gives no SQLSTATE. */
    private static final int SQLITE_CONSTRAINT = 19;

    private final TransactionTemplate reading;
    private final TransactionTemplate writing;
    private final Outage outage;

    Transactions(PlatformTransactionManager manager, HikariDataSource pool) {
        outage = new Outage(pool);
        reading = new TransactionTemplate(manager);
        reading.setReadOnly(true);
        writing = new TransactionTemplate(manager);
    }

    <T> T read(Supplier<T> work) {
        return within(reading, work);
    }

    <T> T write(Supplier<T> work) {
        return within(writing, work);
    }

    private <T> T within(TransactionTemplate template, Supplier<T> work) {
        try {
            T result = template.execute(status -> work.get());
            outage.over();
            return result;
        } catch (ClinicError error) {
            throw error;
        } catch (RuntimeException error) {
            throw translated(error);
        }
    }

    /** A row that another transaction has deleted meanwhile is as one that never was. */
    private RuntimeException translated(RuntimeException error) {
        SQLException cause = null;
        for (Throwable each = error; each != null; each = each.getCause()) {
            if (each instanceof SQLException sql) {
                cause = sql;
            }
        }
        if (cause == null) {
            return error instanceof StoreUnavailable ? error : outage.failed(error);
        }
        boolean integrity = cause.getSQLState() != null && cause.getSQLState().startsWith(INTEGRITY)
                || cause.getErrorCode() == SQLITE_CONSTRAINT && cause.getMessage().contains("CONSTRAINT");
        return integrity ? ClinicError.invalid() : outage.failed(error);
    }
}
