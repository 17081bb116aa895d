package wirelab.service.petclinic.message;

import java.time.LocalDate;
import wirelab.service.petclinic.ClinicError;
import wirelab.service.petclinic.entity.IsoDate;

/** Fields of requests as entities have them. */
final class Fields {
    private Fields() {}

    /** An absent field is as its zero. */
    static String text(String field) {
        return field == null ? "" : field;
    }

    /** An absent field is as its zero. */
    static int id(Integer field) {
        return field == null ? 0 : field;
    }

    /** A day; without one no row can be stored, whatever is validated. */
    static LocalDate day(String text) {
        return day(IsoDate.parse(text));
    }

    /** A day, which may be missing. */
    static LocalDate day(LocalDate parsed) {
        if (parsed == null) {
            throw ClinicError.invalid();
        }
        return parsed;
    }
}
