package wirelab.service;

/** A configuration that the service cannot honour; it becomes the {@code refused} line. */
public final class Refusal extends Exception {
    private static final long serialVersionUID = 1L;

    /** The option at fault, such as {@code stack.codec}. */
    public final String option;
    /** What to do instead. */
    public final String remedy;

    /** Refuses {@code option}, saying why and what would do. */
    public Refusal(String option, String message, String remedy) {
        super(message);
        this.option = option;
        this.remedy = remedy;
    }
}
