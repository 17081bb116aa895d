package wirelab.parse;

import java.io.ByteArrayInputStream;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/** What comes before the first element. */
final class Prolog {
    private Prolog() {}

    /**
     * Refuses a document type declaration, for not every parser can: entities are declared in it, which
     * name files and hosts or grow without bound.
     */
    static void check(byte[] document) throws Refused {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        try {
            XMLStreamReader reader = factory.createXMLStreamReader(new ByteArrayInputStream(document));
            int event = reader.getEventType();
            while (event != XMLStreamConstants.START_ELEMENT && reader.hasNext()) {
                event = reader.next();
                if (event == XMLStreamConstants.DTD) {
                    throw new Refused("the document has a document type declaration");
                }
            }
        } catch (XMLStreamException error) {
            throw new Refused("the document is not well formed: " + error.getMessage());
        }
    }
}
