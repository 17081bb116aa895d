package wirelab.service.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariDataSource;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.contract.ApplicationError;
import wirelab.service.contract.MemoryRecordStore;
import wirelab.service.contract.RecordStore;
import wirelab.service.contract.Records;
import wirelab.service.contract.StoreUnavailable;
import wirelab.service.contract.message.RecordsMessages.Team;

/** The contract {@code records} on every store. */
class RecordStoreTest {
    private static final int TIMEOUT_MS = 2000;

    @TempDir
    Path folder;

    private Configuration.Database database(String kind) {
        return new Configuration.Database(kind, folder.resolve("records.db").toString(), 4, TIMEOUT_MS);
    }

    @Test
    void rowsAreKeptInMemory() throws Exception {
        check(new MemoryRecordStore());
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "h2", "hsqldb"})
    void databasesAreResetWhenTheyAreOpened(String kind) throws Exception {
        for (int start = 0; start < 2; start++) {
            try (RecordStore store = new JdbcDatabases().openRecords(database(kind))) {
                assertEquals(4, store.pool().max());
                check(store);
            }
        }
    }

    @Test
    void sqliteWritesAheadAndSyncsEveryCommit() throws Exception {
        try (HikariDataSource pool = ConnectionPool.open(database("sqlite"));
                Connection connection = pool.getConnection()) {
            for (String[] pragma : new String[][] {{"journal_mode", "wal"}, {"synchronous", "2"}, {"busy_timeout", "1000"}}) {
                try (var rows = connection.createStatement().executeQuery("PRAGMA " + pragma[0])) {
                    rows.next();
                    assertEquals(pragma[1], rows.getString(1), pragma[0]);
                }
            }
        }
    }

    /** The calls of the contract on a store that has just started. */
    private static void check(RecordStore store) throws Exception {
        Records records = new Records(store);
        Team first = records.allocate("Alice", 113_517, "CS31245");
        // Jagannathan (2022), figure 2.1.
        assertEquals("Alice 113517 Derek 113520 CS31245 879253", text(first));
        for (Team team : List.of(first, Records.initialTeam(0), Records.initialTeam(Records.ALLOCATIONS - 1))) {
            assertEquals(text(team), text(records.find(team.groupId)));
        }
        for (int unknown : new int[] {Integer.MIN_VALUE, 0, Records.FIRST_GROUP - 1, 879_254, Integer.MAX_VALUE}) {
            ApplicationError error = assertThrows(ApplicationError.class, () -> records.find(unknown));
            assertEquals("no such group", error.getMessage());
            assertNull(store.find(unknown));
        }
        ExecutorService callers = Executors.newFixedThreadPool(8);
        List<Future<Team>> calls = new ArrayList<>();
        for (int call = 0; call < 80; call++) {
            calls.add(callers.submit(() -> records.allocate("Zo\u00eb \ud83d\ude00", Integer.MAX_VALUE, "C'S")));
        }
        for (Future<Team> call : calls) {
            assertEquals(text(call.get()), text(records.find(call.get().groupId)));
        }
        callers.shutdown();
        assertEquals(Records.ALLOCATIONS + 81, records.count());
    }

    private static String text(Team team) {
        return String.join(" ", team.member1, String.valueOf(team.member1id), team.member2,
                String.valueOf(team.member2id), team.courseCode, String.valueOf(team.groupId));
    }

    @Test
    void errorsComeInTheOrderOfTheContract() {
        Records records = new Records(new MemoryRecordStore());
        String tooLong = "\u00e9".repeat(513);
        assertError(records, "name must not be empty", "", 0, "");
        assertError(records, "id must be positive", tooLong, 0, "");
        assertError(records, "course code must not be empty", tooLong, 1, "");
        assertError(records, "at most 1024 bytes", tooLong, 1, "c");
        assertError(records, "at most 1024 bytes", "n", 1, tooLong);
    }

    private static void assertError(Records records, String text, String name, int id, String course) {
        ApplicationError error = assertThrows(ApplicationError.class, () -> records.allocate(name, id, course));
        assertEquals(text, error.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "h2", "hsqldb"})
    void aFullPoolIsAnErrorWithinTheTimeout(String kind) throws Exception {
        Configuration.Database one =
                new Configuration.Database(kind, folder.resolve("records.db").toString(), 1, 500);
        try (HikariDataSource pool = ConnectionPool.open(one); RecordStore store = DatabaseRecordStore.reset(pool)) {
            try (Connection held = pool.getConnection()) {
                assertTrue(held.isValid(1));
                assertEquals(List.of(1, 0), List.of(store.pool().inUse(), store.pool().idle()));
                long start = System.nanoTime();
                assertThrows(StoreUnavailable.class, store::count);
                assertTrue(System.nanoTime() - start < 2_000_000_000L, "longer than the timeout");
            }
            assertEquals(Records.ALLOCATIONS, store.count());
        }
    }

    @Test
    void postgresIsResetAndRecovers() throws Exception {
        assumeTrue(Postgres.isInstalled(), "PostgreSQL 15 is not installed");
        try (Postgres server = Postgres.start()) {
            Configuration.Database database = new Configuration.Database("postgres", server.url(), 4, TIMEOUT_MS);
            for (int start = 0; start < 2; start++) {
                try (RecordStore store = new JdbcDatabases().openRecords(database)) {
                    check(store);
                }
            }
            try (RecordStore store = new JdbcDatabases().openRecords(database)) {
                Records records = new Records(store);
                server.crash();
                assertThrows(StoreUnavailable.class, () -> records.allocate("Alice", 113_517, "CS31245"));
                server.resume();
                // The server may still replay its log when the first calls come.
                int group = 0;
                for (int tries = 0; group == 0; tries++) {
                    assertTrue(tries < 100, "no recovery within 10 s");
                    try {
                        group = records.allocate("Alice", 113_517, "CS31245").groupId;
                    } catch (StoreUnavailable unavailable) {
                        Thread.sleep(100);
                    }
                }
                assertTrue(group >= Records.FIRST_NEW_GROUP);
            }
        }
    }

    @Test
    void aDatabaseThatCannotBeUsedIsRefused() {
        for (String url : new String[] {"postgres://wirelab@/postgres?host=/nowhere", "postgres://?", "mysql://x/y"}) {
            Refusal refusal = assertThrows(Refusal.class, () -> new JdbcDatabases()
                    .openRecords(new Configuration.Database("postgres", url, null, 500)));
            assertEquals("store.url", refusal.option, url);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "store.kind {\"kind\":\"mysql\"}", "store.url {\"kind\":\"sqlite\"}", "store.pool {\"kind\":\"h2\",\"pool\":0}",
        "store.timeout_ms {\"kind\":\"h2\",\"timeout_ms\":499}"
    })
    void settingsThatCannotBeHonouredAreRefusedByName(String row) {
        String[] parts = row.split(" ", 2);
        Refusal refusal = assertThrows(Refusal.class, () -> Configuration.read(
                "{\"contract\":\"records\",\"stack\":{\"binding\":\"soap\"},\"listen\":\"127.0.0.1:0\",\"store\":"
                        + parts[1] + "}"));
        assertEquals(parts[0], refusal.option);
    }
}
