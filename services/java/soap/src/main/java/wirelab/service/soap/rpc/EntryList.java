package wirelab.service.soap.rpc;

import java.util.ArrayList;
import java.util.List;
import wirelab.service.contract.message.CalendarMessages.Entry;

/** A repeated part: it appears once and holds the items. */
public final class EntryList {
    public List<Entry> item = new ArrayList<>();
}
