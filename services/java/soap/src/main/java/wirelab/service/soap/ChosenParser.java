package wirelab.service.soap;

import java.io.InputStream;
import java.util.List;
import java.util.Map;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.apache.cxf.helpers.CastUtils;
import org.apache.cxf.helpers.HttpHeaderHelper;
import org.apache.cxf.interceptor.Fault;
import org.apache.cxf.interceptor.StaxInEndingInterceptor;
import org.apache.cxf.interceptor.StaxInInterceptor;
import org.apache.cxf.message.Message;
import org.apache.cxf.phase.AbstractPhaseInterceptor;
import org.apache.cxf.phase.Phase;

/**
 * Opens the reader of a request by the chosen parser; CXF's own interceptor then finds that there is one.
 * Where that one opens none, neither does this.
 */
final class ChosenParser extends AbstractPhaseInterceptor<Message> {
    private final XMLInputFactory factory;
    private final int childrenMax;
    private volatile Class<?> used;

    ChosenParser(String parser, int childrenMax) {
        super(Phase.POST_STREAM);
        addBefore(StaxInInterceptor.class.getName());
        factory = StaxParsers.createSecureFactory(parser);
        this.childrenMax = childrenMax;
    }

    /** The class of the reader of the last request; null before the first. */
    Class<?> used() {
        return used;
    }

    @Override
    public void handleMessage(Message message) {
        InputStream body = message.getContent(InputStream.class);
        if (isGET(message) || message.getContent(XMLStreamReader.class) != null || body == null || isEmpty(message)) {
            return;
        }
        String encoding = (String) message.get(Message.ENCODING);
        try {
            XMLStreamReader reader = encoding == null
                    ? factory.createXMLStreamReader(body)
                    : factory.createXMLStreamReader(body, encoding);
            used = reader.getClass();
            message.setContent(XMLStreamReader.class, new LimitedReader(reader, childrenMax));
        } catch (XMLStreamException error) {
            Fault fault = new Fault(error);
            fault.setFaultCode(Fault.FAULT_CODE_CLIENT);
            throw fault;
        }
        message.getInterceptorChain().add(StaxInEndingInterceptor.INSTANCE);
    }

    /** As CXF's interceptor asks, by what the headers say. */
    private static boolean isEmpty(Message message) {
        Map<String, List<String>> headers = CastUtils.cast((Map<?, ?>) message.get(Message.PROTOCOL_HEADERS));
        return headers != null && List.of("0").equals(HttpHeaderHelper.getHeader(headers, HttpHeaderHelper.CONTENT_LENGTH));
    }
}
