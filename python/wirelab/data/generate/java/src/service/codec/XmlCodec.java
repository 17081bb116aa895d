package service.codec;

import jakarta.xml.bind.JAXBContext;
import jakarta.xml.bind.JAXBException;
import jakarta.xml.bind.Marshaller;
import jakarta.xml.bind.Unmarshaller;
import jakarta.xml.bind.ValidationEvent;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import javax.xml.stream.XMLStreamWriter;

/** XML by JAXB over the JDK's StAX parser. */
final class XmlCodec implements Codec {
    private static final byte[] DECLARATION =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>".getBytes(StandardCharsets.US_ASCII);

    private final String namespace;
    private final JAXBContext context;
    private final XMLInputFactory parsers = XMLInputFactory.newDefaultFactory();
    // They are costly to make, and for one thread at a time.
    private final ThreadLocal<Marshaller> marshallers = ThreadLocal.withInitial(this::marshaller);
    private final ThreadLocal<Unmarshaller> unmarshallers = ThreadLocal.withInitial(this::unmarshaller);

    XmlCodec(String namespace, List<Class<?>> roots) {
        this.namespace = namespace;
        parsers.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        parsers.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        parsers.setProperty(XMLInputFactory.IS_COALESCING, true);
        try {
            context = JAXBContext.newInstance(roots.toArray(Class<?>[]::new));
        } catch (JAXBException error) {
            throw new IllegalStateException("the message classes are not JAXB classes", error);
        }
    }

    @Override
    public List<String> mediaTypes() {
        return List.of("application/xml", "text/xml");
    }

    @Override
    public Object read(byte[] bytes, Class<?> message) throws Malformed {
        try {
            XMLStreamReader parser =
                    new BoundedParser(parsers.createXMLStreamReader(new ByteArrayInputStream(bytes)));
            Object read = unmarshallers.get().unmarshal(parser);
            while (parser.hasNext()) {
                parser.next(); // anything except space and comments behind the root element is an error
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
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(DECLARATION);
        try {
            XMLStreamWriter writer = XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(bytes, "UTF-8");
            writer.writeStartElement("Error");
            writer.writeDefaultNamespace(namespace);
            writer.writeStartElement("error");
            writer.writeCharacters(text);
            writer.writeEndElement();
            writer.writeEndElement();
            writer.close();
        } catch (XMLStreamException error) {
            throw new IllegalStateException("an error that is not XML", error);
        }
        return bytes.toByteArray();
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
            unmarshaller.setEventHandler(XmlCodec::mayContinue);
            return unmarshaller;
        } catch (JAXBException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Unknown elements, which come without an exception, are ignored; a text that is not a number is not. */
    private static boolean mayContinue(ValidationEvent event) {
        return event.getLinkedException() == null && event.getSeverity() != ValidationEvent.FATAL_ERROR;
    }
}
