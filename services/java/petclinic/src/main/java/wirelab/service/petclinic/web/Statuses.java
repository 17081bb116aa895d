package wirelab.service.petclinic.web;

import org.springframework.http.HttpStatus;

/** The statuses of the operations, for the application and for its OpenAPI document. */
public final class Statuses {
    public static final HttpStatus FOUND = HttpStatus.OK;
    /** A new row without its path. */
    public static final HttpStatus ADDED = HttpStatus.OK;
    public static final HttpStatus CREATED = HttpStatus.CREATED;
    /** A row that has changed, or is gone. */
    public static final HttpStatus DONE = HttpStatus.NO_CONTENT;
    /** A body or a parameter that breaks the contract. */
    public static final HttpStatus INVALID = HttpStatus.BAD_REQUEST;
    public static final HttpStatus NO_ROW = HttpStatus.NOT_FOUND;
    public static final HttpStatus WRONG_METHOD = HttpStatus.METHOD_NOT_ALLOWED;
    /** Accept excludes the codec. */
    public static final HttpStatus NOT_ACCEPTABLE = HttpStatus.NOT_ACCEPTABLE;
    /** The body is of another codec. */
    public static final HttpStatus WRONG_TYPE = HttpStatus.UNSUPPORTED_MEDIA_TYPE;
    public static final HttpStatus STORE_UNAVAILABLE = HttpStatus.SERVICE_UNAVAILABLE;

    /** The header field that says what is wrong with a body. */
    public static final String ERRORS = "errors";

    private Statuses() {}
}
