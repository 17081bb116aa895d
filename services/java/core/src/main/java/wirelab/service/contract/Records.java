package wirelab.service.contract;

import static wirelab.service.contract.ApplicationError.unless;

import java.nio.charset.StandardCharsets;
import java.util.List;
import wirelab.service.contract.message.RecordsMessages.Team;

/** The contract {@code records}: students are allocated to teams of two. */
public final class Records implements Model {
    /** A row of the table of partners. */
    public record Partner(String name, int id) {}

    /** Rows of the table of partners. */
    public static final int PARTNERS = 100;

    /** Rows of the table of allocations at the start. */
    public static final int ALLOCATIONS = 10_001;

    /** The group of the first of them. */
    public static final int FIRST_GROUP = 869_252;

    /** The first group that a service gives: 879253, which Jagannathan (2022), figure 2.1, shows. */
    public static final int FIRST_NEW_GROUP = FIRST_GROUP + ALLOCATIONS;

    /** The confirmation that every allocation is answered with. */
    public static final String MESSAGE = "Your team has been allocated for the course";

    private static final int FIRST_PARTNER_ID = 113_503;
    private static final int FIRST_STUDENT = 200_000;
    private static final int TEXT_BYTES_MAX = 1024;
    private static final List<String> NAMES = List.of(
            "Amir", "Beatrice", "Chloe", "Daniel", "Elena", "Farina", "Gustav", "Derek", "Hana", "Ivo");

    private final RecordStore store;

    /** On a store that has just been reset. */
    public Records(RecordStore store) {
        this.store = store;
    }

    /** The row of partners of that number as it is at the start. */
    public static Partner initialPartner(int number) {
        return new Partner(NAMES.get(number % NAMES.size()), FIRST_PARTNER_ID + number);
    }

    /** Row {@code n}, from 0, of the table of allocations at the start. */
    public static Team initialTeam(int n) {
        int student = FIRST_STUDENT + n;
        Partner second = initialPartner(student % PARTNERS);
        Team team = new Team(initialPartner(n % PARTNERS).name(), student, "CS" + (10_000 + n % 100));
        team.join(second.name(), second.id());
        team.groupId = FIRST_GROUP + n;
        return team;
    }

    @Override
    public List<String> operations() {
        return List.of("Allocate", "FindAllocation", "CountAllocations");
    }

    /** Finds a partner for a student and stores the team, which it returns. */
    public Team allocate(String name, int id, String courseCode) throws ApplicationError {
        unless(!name.isEmpty(), "name must not be empty");
        unless(id >= 1, "id must be positive");
        unless(!courseCode.isEmpty(), "course code must not be empty");
        unless(fits(name) && fits(courseCode), "at most 1024 bytes");
        Team team = new Team(name, id, courseCode);
        store.allocate(team, id % PARTNERS);
        return team;
    }

    /** A team that was stored. It is not to be changed. */
    public Team find(int groupId) throws ApplicationError {
        Team team = store.find(groupId);
        unless(team != null, "no such group");
        return team;
    }

    /** Teams that are stored. */
    public long count() {
        return store.count();
    }

    @Override
    public StorePool pool() {
        return store.pool();
    }

    @Override
    public void close() {
        store.close();
    }

    private static boolean fits(String text) {
        return text.length() <= TEXT_BYTES_MAX && text.getBytes(StandardCharsets.UTF_8).length <= TEXT_BYTES_MAX;
    }
}
