package wirelab.service.rest;

import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import javax.xml.stream.util.StreamReaderDelegate;
import wirelab.service.contract.Lists;

/**
 * Refuses document type declarations, which a parser without support for them would skip in
 * silence, elements deeper than any message's, and the root element's children beyond those of a
 * list, which JAXB would all keep.
 */
final class BoundedParser extends StreamReaderDelegate {
    /** The items of a list, and room for the other fields. */
    private static final int CHILDREN_MAX = Lists.ITEMS_MAX + 100;

    /** As CXF has it for SOAP; no message needs more than three. */
    private static final int DEPTH_MAX = 100;

    private int depth;
    private int children;

    BoundedParser(XMLStreamReader parser) {
        super(parser);
    }

    @Override
    public int next() throws XMLStreamException {
        int event = super.next();
        switch (event) {
            case XMLStreamConstants.DTD -> throw new XMLStreamException("a document type declaration is not allowed");
            case XMLStreamConstants.START_ELEMENT -> {
                if (depth++ == 1 && ++children > CHILDREN_MAX) {
                    throw new XMLStreamException(Lists.TOO_MANY);
                }
                if (depth > DEPTH_MAX) {
                    throw new XMLStreamException("elements are nested more than " + DEPTH_MAX + " deep");
                }
            }
            case XMLStreamConstants.END_ELEMENT -> depth--;
            default -> { }
        }
        return event;
    }
}
