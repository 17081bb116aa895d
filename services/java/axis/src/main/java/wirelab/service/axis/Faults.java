package wirelab.service.axis;

import javax.xml.namespace.QName;
import org.apache.axis.AxisFault;
import org.apache.axis.Constants;
import wirelab.service.contract.StoreUnavailable;

/** Faults of SOAP 1.1 as contracts/README.md has them. */
final class Faults {
    private Faults() {}

    static AxisFault client(String text) {
        return of("Client", text);
    }

    static AxisFault of(String code, String text) {
        return new AxisFault(new QName(Constants.URI_SOAP11_ENV, code), text, null, null);
    }

    /** A fault as it is to be sent: Axis would add the host's name and a stack trace, and call its own
     * refusals to read something {@code Server.generalException}. */
    static AxisFault shape(AxisFault fault) {
        String code = fault.getFaultCode() == null ? "" : fault.getFaultCode().getLocalPart();
        boolean kept = code.equals("MustUnderstand") || code.equals("VersionMismatch")
                || code.equals("Server") && StoreUnavailable.TEXT.equals(fault.getFaultString());
        AxisFault shaped = of(kept ? code : "Client", fault.getFaultString());
        shaped.clearFaultDetails();
        return shaped;
    }
}
