package wirelab.service.contract;

/** How long the lists of a message may be (contracts/README.md, Sizes). */
public final class Lists {
    /** The largest number of items. */
    public static final int ITEMS_MAX = 200_000;

    /** What is said of more. */
    public static final String TOO_MANY = "a list holds at most 200000 items";

    private Lists() {}

    /** Refuses a list of that many items, where no reader could refuse it before. */
    public static void check(int items) throws ApplicationError {
        ApplicationError.unless(items <= ITEMS_MAX, TOO_MANY);
    }
}
