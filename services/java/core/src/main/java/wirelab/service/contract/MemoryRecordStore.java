package wirelab.service.contract;

import java.util.ArrayList;
import java.util.List;
import wirelab.service.contract.message.RecordsMessages.Team;

/** The tables of {@code records} without a database. */
public final class MemoryRecordStore implements RecordStore {
    /** New teams that can be found; older ones are overwritten, but counted. */
    private static final int KEPT_MAX = 1_000_000;

    /** New teams in the order of their groups, as a ring once it is full. */
    private final List<Team> kept = new ArrayList<>();

    private long inserted;

    @Override
    public synchronized void allocate(Team team, int partner) {
        Records.Partner second = Records.initialPartner(partner);
        team.join(second.name(), second.id());
        team.groupId = (int) (Records.FIRST_NEW_GROUP + inserted);
        if (kept.size() < KEPT_MAX) {
            kept.add(team);
        } else {
            kept.set((int) (inserted % KEPT_MAX), team);
        }
        inserted++;
    }

    @Override
    public Team find(int groupId) {
        long initial = (long) groupId - Records.FIRST_GROUP;
        if (initial < 0) {
            return null;
        }
        return initial < Records.ALLOCATIONS ? Records.initialTeam((int) initial) : findTeam(groupId);
    }

    private synchronized Team findTeam(int groupId) {
        long at = (long) groupId - Records.FIRST_NEW_GROUP;
        return at >= inserted || at < inserted - KEPT_MAX ? null : kept.get((int) (at % KEPT_MAX));
    }

    @Override
    public synchronized long count() {
        return Records.ALLOCATIONS + inserted;
    }
}
