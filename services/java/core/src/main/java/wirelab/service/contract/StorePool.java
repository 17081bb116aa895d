package wirelab.service.contract;

/** The connections to a database that a service keeps. */
public interface StorePool {
    /** The most that there may be. */
    int max();

    /** Lent to a call now. */
    int inUse();

    /** Open and free now. */
    int idle();
}
