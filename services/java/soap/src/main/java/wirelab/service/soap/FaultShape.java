package wirelab.service.soap;

import java.util.Set;
import javax.xml.namespace.QName;
import org.apache.cxf.binding.soap.Soap12;
import org.apache.cxf.binding.soap.SoapMessage;
import org.apache.cxf.binding.soap.SoapVersion;
import org.apache.cxf.binding.soap.interceptor.AbstractSoapInterceptor;
import org.apache.cxf.interceptor.Fault;
import org.apache.cxf.phase.Phase;
import wirelab.service.contract.StoreUnavailable;

/**
 * Faults as contracts/README.md has them: what could not be read is the caller's fault, and the
 * status follows from the code (SOAP 1.1 section 6.2; SOAP 1.2 part 2, table 20).
 */
final class FaultShape extends AbstractSoapInterceptor {
    private static final Set<String> KEPT = Set.of("VersionMismatch", "MustUnderstand");

    FaultShape() {
        super(Phase.PREPARE_SEND);
    }

    @Override
    public void handleMessage(SoapMessage message) {
        Fault fault = (Fault) message.getContent(Exception.class);
        SoapVersion version = message.getVersion();
        QName code = fault.getFaultCode();
        boolean unavailable = fault.getCause() instanceof StoreUnavailable;
        if (!unavailable && (code == null || !KEPT.contains(code.getLocalPart()))) {
            fault.setFaultCode(version.getSender());
        }
        boolean sender = version.getSender().equals(fault.getFaultCode());
        fault.setStatusCode(version instanceof Soap12 && sender ? 400 : 500);
        fault.setDetail(null);
    }
}
