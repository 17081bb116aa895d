package wirelab.service.petclinic.message;

import jakarta.validation.Validation;
import jakarta.validation.Validator;
import wirelab.service.petclinic.ClinicError;

/** Bean Validation of requests, which may be off. */
public final class Limiter {
    private final Validator validator;

    /** Validates, or lets everything pass. */
    public Limiter(boolean validates) {
        validator = validates ? Validation.buildDefaultValidatorFactory().getValidator() : null;
    }

    <T> T check(T request) {
        if (validator != null && !validator.validate(request).isEmpty()) {
            throw ClinicError.invalid();
        }
        return request;
    }
}
