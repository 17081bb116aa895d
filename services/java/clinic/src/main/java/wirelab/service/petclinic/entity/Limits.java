package wirelab.service.petclinic.entity;

/** The limits of fields (contracts/README.md, petclinic), for constraints of Bean Validation. */
public final class Limits {
    /** A first or last name. */
    public static final String PERSON = "[A-Za-z]{1,30}";

    /** A telephone number. */
    public static final String TELEPHONE = "[0-9]{1,20}";

    /** Any other text: it has no NUL (contracts/README.md, mappings). */
    public static final String TEXT = "[^\\u0000]*";

    private Limits() {}
}
