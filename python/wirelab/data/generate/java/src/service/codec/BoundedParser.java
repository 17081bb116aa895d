package service.codec;

import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import javax.xml.stream.util.StreamReaderDelegate;

/**
 * Rejects document type declarations, which a parser without support for them would skip, and deep
 * nesting.
 */
final class BoundedParser extends StreamReaderDelegate {
    /** As CXF has it for SOAP. */
    private static final int DEPTH_MAX = 100;

    private int depth;

    BoundedParser(XMLStreamReader parser) {
        super(parser);
    }

    @Override
    public int next() throws XMLStreamException {
        int event = super.next();
        switch (event) {
            case XMLStreamConstants.DTD -> throw new XMLStreamException("a document type declaration is not allowed");
            case XMLStreamConstants.START_ELEMENT -> {
                if (++depth > DEPTH_MAX) {
                    throw new XMLStreamException("elements are nested more than " + DEPTH_MAX + " deep");
                }
            }
            case XMLStreamConstants.END_ELEMENT -> depth--;
            default -> { }
        }
        return event;
    }
}
