package wirelab.service.petclinic.entity;

import jakarta.persistence.AttributeConverter;
import java.time.DateTimeException;
import java.time.LocalDate;

/**
 * Days as {@code YYYY-MM-DD}, in messages and in the databases: SQLite has no type for them, and java.sql.Date
 * knows the Gregorian calendar from 1582 on only.
 */
public final class IsoDate implements AttributeConverter<LocalDate, String> {
    private static final int LENGTH = "YYYY-MM-DD".length();

    /** The day, or null where the text is none from year 1 to 9999. */
    public static LocalDate parse(String text) {
        if (text == null || text.length() != LENGTH) {
            return null;
        }
        try {
            LocalDate day = LocalDate.parse(text);
            return day.getYear() >= 1 ? day : null;
        } catch (DateTimeException none) {
            return null;
        }
    }

    @Override
    public String convertToDatabaseColumn(LocalDate day) {
        return day == null ? null : day.toString();
    }

    @Override
    public LocalDate convertToEntityAttribute(String text) {
        return text == null ? null : LocalDate.parse(text);
    }
}
