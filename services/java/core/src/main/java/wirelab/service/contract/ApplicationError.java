package wirelab.service.contract;

/** An error that the contract knows; its text is part of the contract. Carries no stack trace. */
public final class ApplicationError extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean notFound;

    /** The error of that text. */
    public ApplicationError(String text) {
        this(text, false);
    }

    private ApplicationError(String text, boolean notFound) {
        super(text, null, false, false);
        this.notFound = notFound;
    }

    /** That there is no such thing, which bindings with a status for it tell by that. */
    public static ApplicationError notFound(String text) {
        return new ApplicationError(text, true);
    }

    /** Whether it was made by {@link #notFound(String)}. */
    public boolean isNotFound() {
        return notFound;
    }

    static void unless(boolean held, String text) throws ApplicationError {
        if (!held) {
            throw new ApplicationError(text);
        }
    }
}
