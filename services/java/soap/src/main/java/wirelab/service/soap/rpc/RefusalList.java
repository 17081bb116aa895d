package wirelab.service.soap.rpc;

import java.util.ArrayList;
import java.util.List;
import wirelab.service.contract.message.TransferMessages.Refusal;

/** A repeated part: it appears once and holds the items. */
public final class RefusalList {
    public List<Refusal> item = new ArrayList<>();
}
