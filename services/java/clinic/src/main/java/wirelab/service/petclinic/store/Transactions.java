package wirelab.service.petclinic.store;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import wirelab.service.contract.StoreUnavailable;
import wirelab.service.petclinic.ClinicError;
import wirelab.service.store.Outage;

/** Spring's transactions, and what failures of a database mean to a caller. */
public final class Transactions {
    /** Classes of SQLSTATE: integrity constraint violation, and data exception, such as a text that is too long. */
    private static final List<String> REFUSED = List.of("23", "22");

    /** SQLITE_CONSTRAINT; the driver gives no SQLSTATE. */
    private static final int SQLITE_CONSTRAINT = 19;

    private final TransactionTemplate reading;
    private final TransactionTemplate writing;
    private final Outage outage;

    /** Of a manager over the connections of a pool. */
    public Transactions(PlatformTransactionManager manager, HikariDataSource pool) {
        outage = new Outage(pool);
        reading = new TransactionTemplate(manager);
        reading.setReadOnly(true);
        writing = new TransactionTemplate(manager);
    }

    <T> T read(Supplier<T> work) {
        return run(reading, work);
    }

    <T> T write(Supplier<T> work) {
        return run(writing, work);
    }

    private <T> T run(TransactionTemplate template, Supplier<T> work) {
        try {
            T result = template.execute(status -> work.get());
            outage.end();
            return result;
        } catch (ClinicError error) {
            throw error;
        } catch (RuntimeException error) {
            throw translate(error);
        }
    }

    /** A row that another transaction has deleted meanwhile is as one that never was. */
    private RuntimeException translate(RuntimeException error) {
        SQLException cause = null;
        for (Throwable each = error; each != null; each = each.getCause()) {
            if (each instanceof SQLException sql) {
                cause = sql;
            }
        }
        if (cause == null) {
            return error instanceof StoreUnavailable ? error : outage.failed(error);
        }
        String state = cause.getSQLState();
        boolean refused = state != null && REFUSED.stream().anyMatch(state::startsWith)
                || cause.getErrorCode() == SQLITE_CONSTRAINT && cause.getMessage().contains("CONSTRAINT");
        return refused ? ClinicError.invalid() : outage.failed(error);
    }
}
