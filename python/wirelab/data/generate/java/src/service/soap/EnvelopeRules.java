package service.soap;

import javax.xml.namespace.QName;
import javax.xml.stream.XMLStreamReader;
import org.apache.cxf.binding.soap.SoapFault;
import org.apache.cxf.binding.soap.SoapMessage;
import org.apache.cxf.binding.soap.SoapVersion;
import org.apache.cxf.binding.soap.interceptor.AbstractSoapInterceptor;
import org.apache.cxf.phase.Phase;

/** Checks of an envelope that CXF does not make: its version, and a body with the right child. */
final class EnvelopeRules extends AbstractSoapInterceptor {
    private final SoapVersion version;
    private final String namespace;

    EnvelopeRules(SoapVersion version, String namespace) {
        super(Phase.PRE_UNMARSHAL);
        this.version = version;
        this.namespace = namespace;
    }

    @Override
    public void handleMessage(SoapMessage message) {
        SoapVersion came = message.getVersion();
        if (!came.getNamespace().equals(version.getNamespace())) {
            // In the caller's own version (SOAP 1.2 part 1, appendix A).
            throw new SoapFault("this service takes SOAP " + version.getVersion(),
                    new QName(came.getNamespace(), "VersionMismatch"));
        }
        XMLStreamReader body = message.getContent(XMLStreamReader.class);
        if (body == null || !body.isStartElement()) {
            throw new SoapFault("the body is empty", came.getSender());
        }
        if (!namespace.equals(body.getNamespaceURI())) {
            throw new SoapFault("the body's element must be in " + namespace, came.getSender());
        }
    }
}
