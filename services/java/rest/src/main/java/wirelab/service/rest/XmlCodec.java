package wirelab.service.rest;

import jakarta.xml.bind.JAXBContext;
import jakarta.xml.bind.JAXBElement;
import jakarta.xml.bind.JAXBException;
import jakarta.xml.bind.Marshaller;
import jakarta.xml.bind.Unmarshaller;
import jakarta.xml.bind.ValidationEvent;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.xml.namespace.QName;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Exchanges;
import wirelab.service.contract.Model;
import wirelab.service.contract.message.ErrorMessage;

/** XML by JAXB over the JDK's StAX parser. */
final class XmlCodec implements Codec {
    /** Puts the contract's namespace in the place of none (the JAXB reference implementation's property). */
    private static final String NAMESPACE = "org.glassfish.jaxb.defaultNamespaceRemap";

    private static final byte[] DECLARATION =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>".getBytes(StandardCharsets.US_ASCII);

    private final QName error;
    private final JAXBContext context;
    private final XMLInputFactory parsers = XMLInputFactory.newDefaultFactory();
    // They are costly to make, and for one thread at a time.
    private final ThreadLocal<Marshaller> marshallers = ThreadLocal.withInitial(this::marshaller);
    private final ThreadLocal<Unmarshaller> unmarshallers = ThreadLocal.withInitial(this::unmarshaller);

    XmlCodec(Model model) {
        error = new QName(model.namespace(), "Error");
        Class<?>[] classes = Stream.concat(
                        Stream.of(ErrorMessage.class),
                        exchanges(model).stream().flatMap(all -> Stream.of(all.request(), all.reply())))
                .distinct()
                .toArray(Class<?>[]::new);
        parsers.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        parsers.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        parsers.setProperty(XMLInputFactory.IS_COALESCING, true);
        try {
            context = JAXBContext.newInstance(classes, Map.of(NAMESPACE, model.namespace()));
        } catch (JAXBException error) {
            throw new IllegalStateException("the message classes are not JAXB classes", error);
        }
    }

    @Override
    public String contentType() {
        return "application/xml";
    }

    @Override
    public List<String> mediaTypes() {
        return List.of("application/xml", "text/xml");
    }

    @Override
    public List<Exchange<?, ?>> exchanges(Model model) {
        return Exchanges.of(model);
    }

    @Override
    public Object read(byte[] bytes, Class<?> message) throws Malformed {
        try {
            XMLStreamReader parser =
                    new BoundedParser(parsers.createXMLStreamReader(new ByteArrayInputStream(bytes)));
            Object read = unmarshallers.get().unmarshal(parser);
            while (parser.hasNext()) {
                parser.next(); // anything but space and comments behind the root element is an error
            }
            if (!message.isInstance(read)) {
                throw new Malformed("the root element is not " + message.getSimpleName());
            }
            return read;
        } catch (JAXBException error) {
            throw new Malformed(error.getLinkedException() == null ? error : error.getLinkedException());
        } catch (XMLStreamException error) {
            throw new Malformed(error);
        }
    }

    @Override
    public byte[] write(Object message) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(DECLARATION);
        try {
            marshallers.get().marshal(message, bytes);
        } catch (JAXBException error) {
            throw new IllegalStateException("a reply that is not XML", error);
        }
        return bytes.toByteArray();
    }

    @Override
    public byte[] error(String text) {
        return write(new JAXBElement<>(error, ErrorMessage.class, new ErrorMessage(text)));
    }

    private Marshaller marshaller() {
        try {
            Marshaller marshaller = context.createMarshaller();
            marshaller.setProperty(Marshaller.JAXB_FRAGMENT, true);
            return marshaller;
        } catch (JAXBException error) {
            throw new IllegalStateException(error);
        }
    }

    private Unmarshaller unmarshaller() {
        try {
            Unmarshaller unmarshaller = context.createUnmarshaller();
            unmarshaller.setEventHandler(XmlCodec::mayGoOn);
            return unmarshaller;
        } catch (JAXBException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Unknown elements, which come without an exception, are ignored; a number that is none is not. */
    private static boolean mayGoOn(ValidationEvent event) {
        return event.getLinkedException() == null && event.getSeverity() != ValidationEvent.FATAL_ERROR;
    }
}
