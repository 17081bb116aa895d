package wirelab.service.store;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import wirelab.service.contract.RecordStore;
import wirelab.service.contract.Records;
import wirelab.service.contract.StorePool;
import wirelab.service.contract.message.RecordsMessages.Team;

/** The tables of {@code records} in a database, by plain JDBC. Each statement is committed by itself. */
final class DatabaseRecordStore implements RecordStore {
    private static final String[] TABLES = {
        "DROP TABLE IF EXISTS partners",
        "DROP TABLE IF EXISTS allocations",
        "CREATE TABLE partners (number INTEGER PRIMARY KEY, name VARCHAR(1024) NOT NULL, id INTEGER NOT NULL)",
        "CREATE TABLE allocations (groupid INTEGER PRIMARY KEY, member1 VARCHAR(1024) NOT NULL,"
                + " member2 VARCHAR(1024) NOT NULL, member1id INTEGER NOT NULL, member2id INTEGER NOT NULL,"
                + " coursecode VARCHAR(1024) NOT NULL)"
    };
    private static final String INSERT_PARTNER = "INSERT INTO partners (number, name, id) VALUES (?, ?, ?)";
    private static final String INSERT = "INSERT INTO allocations"
            + " (groupid, member1, member2, member1id, member2id, coursecode) VALUES (?, ?, ?, ?, ?, ?)";
    private static final String PARTNER = "SELECT name, id FROM partners WHERE number = ?";
    private static final String FIND =
            "SELECT groupid, member1, member2, member1id, member2id, coursecode FROM allocations WHERE groupid = ?";
    private static final String COUNT = "SELECT count(*) FROM allocations";

    private final HikariDataSource pool;
    private final Outage outage;

    /** The last group given: the service alone writes the table. */
    private final AtomicInteger group = new AtomicInteger(Records.FIRST_NEW_GROUP - 1);

    private DatabaseRecordStore(HikariDataSource pool) {
        this.pool = pool;
        outage = new Outage(pool);
    }

    /** Creates both tables again. */
    static DatabaseRecordStore reset(HikariDataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                for (String table : TABLES) {
                    statement.execute(table);
                }
            }
            fill(connection);
            connection.commit();
        }
        return new DatabaseRecordStore(pool);
    }

    private static void fill(Connection connection) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(INSERT_PARTNER)) {
            for (int number = 0; number < Records.PARTNERS; number++) {
                Records.Partner partner = Records.initialPartner(number);
                insert.setInt(1, number);
                insert.setString(2, partner.name());
                insert.setInt(3, partner.id());
                insert.addBatch();
            }
            insert.executeBatch();
        }
        try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
            for (int n = 0; n < Records.ALLOCATIONS; n++) {
                bind(insert, Records.initialTeam(n));
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    private static void bind(PreparedStatement insert, Team team) throws SQLException {
        insert.setInt(1, team.groupId);
        insert.setString(2, team.member1);
        insert.setString(3, team.member2);
        insert.setInt(4, team.member1id);
        insert.setInt(5, team.member2id);
        insert.setString(6, team.courseCode);
    }

    /** Uses a connection of the pool, or a statement of it. */
    private interface Use<P, T> {
        T of(P prepared) throws SQLException;
    }

    private <T> T call(Use<Connection, T> use) {
        try (Connection connection = pool.getConnection()) {
            T result = use.of(connection);
            outage.end();
            return result;
        } catch (SQLException error) {
            throw outage.failed(error);
        }
    }

    private static <T> T execute(Connection connection, String sql, Use<PreparedStatement, T> use)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            return use.of(statement);
        }
    }

    /** Both statements on one connection: two waits for the pool would count twice. */
    @Override
    public void allocate(Team team, int partner) {
        team.groupId = group.incrementAndGet();
        call(connection -> {
            execute(connection, PARTNER, statement -> join(statement, team, partner));
            return execute(connection, INSERT, statement -> {
                bind(statement, team);
                return statement.executeUpdate();
            });
        });
    }

    private static Team join(PreparedStatement select, Team team, int partner) throws SQLException {
        select.setInt(1, partner);
        try (ResultSet rows = select.executeQuery()) {
            if (!rows.next()) {
                throw new SQLException("partner " + partner + " is missing");
            }
            team.join(rows.getString(1), rows.getInt(2));
            return team;
        }
    }

    @Override
    public Team find(int groupId) {
        return call(connection -> execute(connection, FIND, statement -> {
            statement.setInt(1, groupId);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? team(rows) : null;
            }
        }));
    }

    private static Team team(ResultSet row) throws SQLException {
        Team team = new Team(row.getString(2), row.getInt(4), row.getString(6));
        team.join(row.getString(3), row.getInt(5));
        team.groupId = row.getInt(1);
        return team;
    }

    @Override
    public long count() {
        return call(connection -> execute(connection, COUNT, statement -> {
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getLong(1);
            }
        }));
    }

    @Override
    public StorePool pool() {
        return ConnectionPool.toStorePool(pool);
    }

    @Override
    public void close() {
        pool.close();
    }
}
