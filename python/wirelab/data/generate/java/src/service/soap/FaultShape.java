package service.soap;

import java.util.Set;
import javax.xml.namespace.QName;
import org.apache.cxf.binding.soap.SoapMessage;
import org.apache.cxf.binding.soap.SoapVersion;
import org.apache.cxf.binding.soap.interceptor.AbstractSoapInterceptor;
import org.apache.cxf.interceptor.Fault;
import org.apache.cxf.phase.Phase;

/**
 * What could not be read is the caller's fault. The status of every fault is 500 (SOAP 1.1 section
 * 6.2).
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
        if (code == null || !KEPT.contains(code.getLocalPart())) {
            fault.setFaultCode(version.getSender());
        }
        fault.setStatusCode(500);
        fault.setDetail(null);
    }
}
