package wirelab.service.soap.rpc;

import java.util.ArrayList;
import java.util.List;
import wirelab.service.contract.message.TransferMessages.Record;

/** A repeated part: it appears once and holds the items. */
public final class RecordList {
    public List<Record> item = new ArrayList<>();
}
