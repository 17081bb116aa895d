package service.soap;

import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.apache.cxf.binding.soap.SoapMessage;
import org.apache.cxf.binding.soap.interceptor.AbstractSoapInterceptor;
import org.apache.cxf.interceptor.Fault;
import org.apache.cxf.phase.Phase;

/** Reads to the end of the document; CXF stops behind the body's element, and takes truncated envelopes. */
final class EnvelopeEnd extends AbstractSoapInterceptor {
    EnvelopeEnd() {
        super(Phase.POST_UNMARSHAL);
    }

    @Override
    public void handleMessage(SoapMessage message) {
        XMLStreamReader document = message.getContent(XMLStreamReader.class);
        try {
            while (document.hasNext()) {
                document.next();
            }
        } catch (XMLStreamException error) {
            throw new Fault(error);
        }
    }
}
