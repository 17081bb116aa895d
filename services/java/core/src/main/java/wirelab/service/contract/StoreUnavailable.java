package wirelab.service.contract;

/**
 * The database did not answer, or no connection of the pool was free in time. It is not an application error:
 * REST status 503, gRPC UNAVAILABLE, SOAP fault Server or Receiver. Carries no stack trace.
 */
public final class StoreUnavailable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What callers are sent. */
    public static final String TEXT = "database unavailable";

    /** Of that cause. */
    public StoreUnavailable(Throwable cause) {
        super(TEXT, cause, false, false);
    }
}
