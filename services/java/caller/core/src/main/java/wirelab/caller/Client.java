package wirelab.caller;

/** Makes the calls of one user, one at a time. */
public interface Client extends AutoCloseable {
    /** Makes one call, stamps it and compares its reply; throws why the call failed. */
    void call(Stamps at) throws Exception;

    @Override
    void close();
}
