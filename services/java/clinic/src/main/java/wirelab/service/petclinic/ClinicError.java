package wirelab.service.petclinic;

/** An application error of the contract; it rolls a transaction back. Carries no stack trace. */
public final class ClinicError extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Which. */
    public enum Kind {
        /** No such row, or none at all in a list. */
        NOT_FOUND("not found"),
        /** A field breaks its limit or names no row. */
        INVALID("invalid request");

        private final String text;

        Kind(String text) {
            this.text = text;
        }
    }

    private final Kind kind;

    private ClinicError(Kind kind) {
        super(kind.text, null, false, false);
        this.kind = kind;
    }

    /** The kind. */
    public Kind kind() {
        return kind;
    }

    /** Not found. */
    public static ClinicError notFound() {
        return new ClinicError(Kind.NOT_FOUND);
    }

    /** Invalid. */
    public static ClinicError invalid() {
        return new ClinicError(Kind.INVALID);
    }

    /** A row that was asked for. */
    static <T> T checkFound(T row) {
        if (row == null) {
            throw notFound();
        }
        return row;
    }

    /** A row that a request refers to. */
    static <T> T checkReference(T row) {
        if (row == null) {
            throw invalid();
        }
        return row;
    }
}
