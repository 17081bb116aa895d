package wirelab.service.iiop;

import wirelab.calendar_v1.ApplicationError;
import wirelab.calendar_v1.BookReply;
import wirelab.calendar_v1.CalendarPOA;
import wirelab.calendar_v1.DeployReply;
import wirelab.calendar_v1.EntriesReply;
import wirelab.calendar_v1.Entry;
import wirelab.service.Calls;
import wirelab.service.contract.Calendar;
import wirelab.service.contract.message.CalendarMessages;

/** The contract {@code calendar} behind the skeleton that JacORB's compiler made. */
final class CalendarServant extends CalendarPOA {
    private final Calendar model;
    private final Answering<ApplicationError> calls;

    CalendarServant(Calendar model, Calls calls) {
        this.model = model;
        this.calls = new Answering<>(calls, ApplicationError::new);
    }

    @Override
    public DeployReply deploy(String document) throws ApplicationError {
        return calls.answer("Deploy", () -> new DeployReply(model.deploy(document)));
    }

    @Override
    public BookReply book(String owner, int day, int slot, String title, boolean open, double weight, String note)
            throws ApplicationError {
        return calls.answer("Book", () -> {
            CalendarMessages.Entry entry = new CalendarMessages.Entry(slot, title, open, weight);
            return new BookReply(model.book(owner, day, entry, note), owner, title);
        });
    }

    @Override
    public EntriesReply entries(String owner, int day) throws ApplicationError {
        return calls.answer("Entries", () -> new EntriesReply(model.entries(owner, day).stream()
                .map(entry -> new Entry(entry.slot, entry.title, entry.open, entry.weight))
                .toArray(Entry[]::new)));
    }
}
