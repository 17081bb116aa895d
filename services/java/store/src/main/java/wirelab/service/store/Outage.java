package wirelab.service.store;

import java.util.concurrent.atomic.AtomicBoolean;
import wirelab.service.contract.StoreUnavailable;

/** From a failed call to the next good one, so that an outage is logged once. */
public final class Outage {
    private final AtomicBoolean failing = new AtomicBoolean();

    /** A call was good. */
    public void over() {
        if (failing.get()) {
            failing.set(false);
        }
    }

    /** A call failed; what it is to be answered with. */
    public StoreUnavailable failed(Exception error) {
        if (failing.compareAndSet(false, true)) {
            System.err.println("calls are answered with \"" + StoreUnavailable.TEXT + "\": " + error);
        }
        return new StoreUnavailable(error);
    }
}
