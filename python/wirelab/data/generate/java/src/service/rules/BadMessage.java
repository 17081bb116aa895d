package service.rules;

/** A request that decodes and is not one by the contract. */
public final class BadMessage extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** With the reason. */
    public BadMessage(String message) {
        super(message);
    }
}
