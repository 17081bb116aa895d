package wirelab.service.contract.message;

/** What REST answers instead of a reply. */
public final class ErrorMessage {
    public String error = "";

    /** Without a text. */
    public ErrorMessage() {}

    /** With that text. */
    public ErrorMessage(String error) {
        this.error = error;
    }
}
