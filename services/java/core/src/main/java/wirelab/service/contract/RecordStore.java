package wirelab.service.contract;

import wirelab.service.contract.message.RecordsMessages.Team;

/** Where {@code records} keeps its two tables. Methods throw {@link StoreUnavailable} when a database does not answer. */
public interface RecordStore extends AutoCloseable {
    /**
     * Gives the team its second member, the row of partners of that number, 0 to 99, and stores it under a new
     * group, whose number it sets.
     */
    void allocate(Team team, int partner);

    /** The team of a group; null where there is none. */
    Team find(int groupId);

    /** Teams that are stored, those at the start included. */
    long count();

    /** The database's pool; null without a database. */
    default StorePool pool() {
        return null;
    }

    @Override
    default void close() {}
}
