package wirelab.caller;

/** Makes the calls of one user, one at a time. */
public interface Client extends AutoCloseable {
    /**
     * Makes one call and stamps it. Returns the reply as a message of the contract, of a stream, which it has
     * checked, its {@link Chunks}; throws why the call failed.
     */
    Object call(Call call, Stamps at) throws Exception;

    @Override
    void close();
}
