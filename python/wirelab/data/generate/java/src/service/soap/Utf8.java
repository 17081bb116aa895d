package service.soap;

import java.util.Locale;
import org.apache.cxf.binding.soap.SoapMessage;
import org.apache.cxf.binding.soap.interceptor.AbstractSoapInterceptor;
import org.apache.cxf.message.Message;
import org.apache.cxf.phase.Phase;

/**
 * Replies are UTF-8 and requests are what their XML says. CXF would go by the content type, and take
 * ISO 8859-1 where that names no character set (RFC 2616, which RFC 7303 section 3.1 replaced).
 */
final class Utf8 extends AbstractSoapInterceptor {
    private Utf8(String phase) {
        super(phase);
    }

    static Utf8 newReader() {
        return new Utf8(Phase.RECEIVE);
    }

    static Utf8 newWriter() {
        return new Utf8(Phase.SETUP);
    }

    @Override
    public void handleMessage(SoapMessage message) {
        String contentType = (String) message.get(Message.CONTENT_TYPE);
        boolean named = getPhase().equals(Phase.RECEIVE)
                && contentType != null
                && contentType.toLowerCase(Locale.ROOT).contains("charset");
        if (!named) {
            message.put(Message.ENCODING, "UTF-8");
        }
    }
}
