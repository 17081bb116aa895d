package wirelab.service.soap;

import java.io.InputStream;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.apache.cxf.interceptor.Fault;
import org.apache.cxf.interceptor.StaxInEndingInterceptor;
import org.apache.cxf.interceptor.StaxInInterceptor;
import org.apache.cxf.message.Message;
import org.apache.cxf.phase.AbstractPhaseInterceptor;
import org.apache.cxf.phase.Phase;

/** Opens the reader of a request by the chosen parser; CXF's own interceptor then finds that there is one. */
final class ChosenParser extends AbstractPhaseInterceptor<Message> {
    private final XMLInputFactory factory;
    private final int childrenMax;
    private volatile Class<?> used;

    ChosenParser(String parser, int childrenMax) {
        super(Phase.POST_STREAM);
        addBefore(StaxInInterceptor.class.getName());
        factory = StaxParsers.secured(parser);
        this.childrenMax = childrenMax;
    }

    /** The class of the reader of the last request; null before the first. */
    Class<?> used() {
        return used;
    }

    @Override
    public void handleMessage(Message message) {
        InputStream body = message.getContent(InputStream.class);
        String encoding = (String) message.get(Message.ENCODING);
        try {
            XMLStreamReader reader = encoding == null
                    ? factory.createXMLStreamReader(body)
                    : factory.createXMLStreamReader(body, encoding);
            used = reader.getClass();
            message.setContent(XMLStreamReader.class, new LimitedReader(reader, childrenMax));
        } catch (XMLStreamException error) {
            throw new Fault(error);
        }
        message.getInterceptorChain().add(StaxInEndingInterceptor.INSTANCE);
    }
}
