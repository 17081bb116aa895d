package wirelab.service.rest;

import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import javax.xml.stream.util.StreamReaderDelegate;

/** Refuses document type declarations, which a parser without support for them would skip in silence. */
final class WithoutDoctype extends StreamReaderDelegate {
    WithoutDoctype(XMLStreamReader parser) {
        super(parser);
    }

    @Override
    public int next() throws XMLStreamException {
        int event = super.next();
        if (event == XMLStreamConstants.DTD) {
            throw new XMLStreamException("a document type declaration is not allowed");
        }
        return event;
    }
}
