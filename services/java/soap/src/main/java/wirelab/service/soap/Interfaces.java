package wirelab.service.soap;

import wirelab.service.contract.Model;
import wirelab.service.soap.literal.CalendarLiteral;
import wirelab.service.soap.literal.ChargingLiteral;
import wirelab.service.soap.literal.RecordsLiteral;
import wirelab.service.soap.literal.TransferLiteral;
import wirelab.service.soap.rpc.CalendarRpc;
import wirelab.service.soap.rpc.ChargingRpc;
import wirelab.service.soap.rpc.RecordsRpc;
import wirelab.service.soap.rpc.TransferRpc;

/** The annotated interface of a contract in a style; it only describes, {@link ContractInvoker} answers. */
final class Interfaces {
    private Interfaces() {}

    static Class<?> of(Model model, boolean rpc) {
        return switch (model.contract()) {
            case "transfer" -> rpc ? TransferRpc.class : TransferLiteral.class;
            case "charging" -> rpc ? ChargingRpc.class : ChargingLiteral.class;
            case "records" -> rpc ? RecordsRpc.class : RecordsLiteral.class;
            default -> rpc ? CalendarRpc.class : CalendarLiteral.class;
        };
    }
}
