package wirelab.service.contract;

import static wirelab.service.contract.ApplicationError.unless;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import wirelab.service.contract.message.CalendarMessages.Entry;

/** The contract {@code calendar}: half-hour slots of a year less a day. */
public final class Calendar implements Model {
    private static final int DAYS = 364;
    private static final int SLOTS = 48;
    private static final int OWNERS_MAX = 10_000;
    private static final int TEXT_BYTES_MAX = 1024;
    private static final int DOCUMENT_BYTES_MAX = 1 << 20;
    private static final int STATUS_DIGITS = 49;

    private final Map<String, NavigableMap<Integer, Entry>> owners = new HashMap<>();

    @Override
    public List<String> operations() {
        return List.of("Deploy", "Book", "Entries");
    }

    /** Takes a document; returns the status. */
    public String deploy(String document) throws ApplicationError {
        unless(!document.isEmpty(), "document must not be empty");
        byte[] bytes = document.getBytes(StandardCharsets.UTF_8);
        unless(bytes.length <= DOCUMENT_BYTES_MAX, "at most 1048576 bytes");
        return "deployed " + Text.hex(Text.sha256().digest(bytes)).substring(0, STATUS_DIGITS);
    }

    /** Keeps an entry, whatever was there before; returns the slot's number in the year. */
    public int book(String owner, int day, Entry entry, String note) throws ApplicationError {
        unless(!owner.isEmpty(), "owner must not be empty");
        checkDay(day);
        unless(entry.slot >= 0 && entry.slot < SLOTS, "slot must be 0 to 47");
        unless(!entry.title.isEmpty(), "title must not be empty");
        unless(fits(owner) && fits(entry.title) && fits(note), "at most 1024 bytes");
        unless(Double.isFinite(entry.weight), "weight must be finite");
        int number = (day - 1) * SLOTS + entry.slot;
        synchronized (owners) {
            unless(owners.containsKey(owner) || owners.size() < OWNERS_MAX, "too many owners");
            owners.computeIfAbsent(owner, unknown -> new TreeMap<>()).put(number, entry);
        }
        return number;
    }

    /** The day's entries by slot; none for an unknown owner. They are not to be changed. */
    public List<Entry> entries(String owner, int day) throws ApplicationError {
        unless(!owner.isEmpty(), "owner must not be empty");
        checkDay(day);
        synchronized (owners) {
            NavigableMap<Integer, Entry> year = owners.get(owner);
            return year == null
                    ? List.of()
                    : new ArrayList<>(year.subMap((day - 1) * SLOTS, day * SLOTS).values());
        }
    }

    private static void checkDay(int day) throws ApplicationError {
        unless(day >= 1 && day <= DAYS, "day must be 1 to 364");
    }

    private static boolean fits(String text) {
        return text.length() <= TEXT_BYTES_MAX && text.getBytes(StandardCharsets.UTF_8).length <= TEXT_BYTES_MAX;
    }
}
