package wirelab.caller;

import java.util.function.Function;

/**
 * One call of an operation. Requests and replies are the contract's messages of
 * {@code wirelab.service.contract.message}; users may share a call.
 */
public final class Call {
    private final String operation;
    private final Object request;
    private final Expected expected;
    private volatile Object prepared;

    Call(String operation, Object request, Expected expected) {
        this.operation = operation;
        this.request = request;
        this.expected = expected;
    }

    /** The name in the .proto: {@code DirectDebit}. */
    public String operation() {
        return operation;
    }

    /** The request; of a stream its {@link Chunks}. */
    public Object request() {
        return request;
    }

    /** The request as a library has it, made once for all users of the call. */
    @SuppressWarnings("unchecked")
    public <Q> Q prepare(Function<Object, Q> form) {
        Object made = prepared;
        if (made == null) {
            made = form.apply(request);
            prepared = made;
        }
        return (Q) made;
    }

    /** What a stream's chunks are made of. */
    public Chunks chunks() {
        return expected.chunks();
    }

    /** The check of a decoded reply; throws what is wrong with it. */
    void check(Object reply) throws Failure {
        expected.check(reply);
    }
}
