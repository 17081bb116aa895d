package wirelab.service.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import wirelab.service.contract.message.CalendarMessages.Entry;

/** Slots are kept by owner and place, and errors come in the contract's order. */
class CalendarTest {
    private static final String LONG = "é".repeat(513);

    private final Calendar calendar = new Calendar();

    @Test
    void theFirstErrorThatAppliesIsAnswered() {
        assertRefused("document must not be empty", () -> calendar.deploy(""));
        assertRefused("at most 1048576 bytes", () -> calendar.deploy("é".repeat(524_289)));
        assertRefused("owner must not be empty", () -> book("", 0, -1, "", LONG, Double.NaN));
        assertRefused("day must be 1 to 364", () -> book("o", 0, -1, "", LONG, Double.NaN));
        assertRefused("day must be 1 to 364", () -> book("o", 365, -1, "", LONG, Double.NaN));
        assertRefused("slot must be 0 to 47", () -> book("o", 1, 48, "", LONG, Double.NaN));
        assertRefused("title must not be empty", () -> book("o", 1, 0, "", LONG, Double.NaN));
        assertRefused("at most 1024 bytes", () -> book("o", 1, 0, "t", LONG, Double.NaN));
        assertRefused("weight must be finite", () -> book("o", 1, 0, "t", "", Double.NaN));
        assertRefused("owner must not be empty", () -> calendar.entries("", 0));
        assertRefused("day must be 1 to 364", () -> calendar.entries("o", 0));
    }

    @Test
    void aLaterEntryTakesTheSlot() throws ApplicationError {
        book("o", 364, 47, "last", "", 1);
        book("o", 2, 3, "early", "", 1);
        assertEquals((2 - 1) * 48 + 1, book("o", 2, 1, "first", "", 1));
        book("o", 2, 3, "late", "", 2);
        List<String> titles = calendar.entries("o", 2).stream().map(entry -> entry.title).toList();
        assertEquals(List.of("first", "late"), titles);
        assertEquals(List.of(), calendar.entries("unknown", 2));
    }

    @Test
    void ownersAreBounded() throws ApplicationError {
        for (int owner = 0; owner < 10_000; owner++) {
            book("o" + owner, 1, 0, "t", "", 1);
        }
        assertRefused("too many owners", () -> book("one more", 1, 0, "t", "", 1));
        book("o7", 1, 1, "t", "", 1);
    }

    private int book(String owner, int day, int slot, String title, String note, double weight)
            throws ApplicationError {
        return calendar.book(owner, day, new Entry(slot, title, false, weight), note);
    }

    private static void assertRefused(String text, Executable call) {
        assertEquals(text, assertThrows(ApplicationError.class, call).getMessage());
    }
}
