package wirelab.service.contract;

/** An error that the contract knows; its text is part of the contract. Carries no stack trace. */
public final class ApplicationError extends Exception {
    private static final long serialVersionUID = 1L;

    /** The error of that text. */
    public ApplicationError(String text) {
        super(text, null, false, false);
    }

    static void unless(boolean held, String text) throws ApplicationError {
        if (!held) {
            throw new ApplicationError(text);
        }
    }
}
