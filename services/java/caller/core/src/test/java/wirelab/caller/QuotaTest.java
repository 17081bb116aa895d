package wirelab.caller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class QuotaTest {
    @Test
    void aWindowOfCallsClosesWhenOneMoreArrives() {
        Quota quota = new Quota(2);
        assertTrue(quota.admit(10) && quota.admit(20));
        assertFalse(quota.isFull());
        assertFalse(quota.admit(31));
        assertFalse(quota.admit(30));
        assertEquals(30, quota.closesAt());
    }

    @Test
    void itHoldsEveryCallThatWasAdmitted() {
        // Users race: the arrival at 40 took the last place before the one at 30 asked for it.
        Quota quota = new Quota(2);
        assertTrue(quota.admit(10) && quota.admit(40));
        assertFalse(quota.admit(30));
        assertEquals(41, quota.closesAt());
    }
}
