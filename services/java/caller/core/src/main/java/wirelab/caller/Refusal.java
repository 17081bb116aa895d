package wirelab.caller;

/** A plan that cannot be carried out as it is; the message names the option at fault. */
final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Refusal(String message) {
        super(message);
    }

    static void unless(boolean possible, String message) {
        if (!possible) {
            throw new Refusal(message);
        }
    }
}
