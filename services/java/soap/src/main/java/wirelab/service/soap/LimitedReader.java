package wirelab.service.soap;

import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import javax.xml.stream.util.StreamReaderDelegate;

/**
 * Holds any parser to the limits that CXF sets Woodstox, and takes no document type declaration. CXF
 * has a reader of this kind, {@code DepthRestrictingStreamReader}, and does not read bodies through it.
 * What is not repeated: Woodstox limits the length of a text too (128 MiB; the service's own limit of a
 * request is lower), and it refuses while it reads. Here the parser has built an element with all of its
 * attributes before they are counted and measured.
 */
final class LimitedReader extends StreamReaderDelegate {
    /** CXF's, of {@code org.apache.cxf.stax.maxAttributeCount}. */
    private static final int ATTRIBUTES_MAX = 500;
    /** CXF's, of {@code org.apache.cxf.stax.maxAttributeSize}. */
    private static final int ATTRIBUTE_CHARACTERS_MAX = 64 * 1024;
    /** CXF's, of {@code org.apache.cxf.stax.maxElementDepth}. */
    private static final int DEPTH_MAX = 100;

    private final int childrenMax;
    /** Of each element that is open, by its depth; the document itself has depth 0. */
    private final int[] children = new int[DEPTH_MAX + 1];
    private int depth;

    LimitedReader(XMLStreamReader reader, int childrenMax) {
        super(reader);
        this.childrenMax = childrenMax;
    }

    @Override
    public int next() throws XMLStreamException {
        int event = super.next();
        switch (event) {
            case XMLStreamConstants.START_ELEMENT -> open();
            case XMLStreamConstants.END_ELEMENT -> depth--;
            case XMLStreamConstants.DTD -> throw refuse("a document type declaration is not allowed");
            default -> { }
        }
        return event;
    }

    @Override
    public int nextTag() throws XMLStreamException {
        int event = next();
        while (isWhiteSpace() || event == XMLStreamConstants.SPACE || event == XMLStreamConstants.COMMENT
                || event == XMLStreamConstants.PROCESSING_INSTRUCTION) {
            event = next();
        }
        if (event != XMLStreamConstants.START_ELEMENT && event != XMLStreamConstants.END_ELEMENT) {
            throw refuse("a tag is missing");
        }
        return event;
    }

    @Override
    public String getElementText() throws XMLStreamException {
        String text = super.getElementText();
        depth--; // it ends behind the element
        return text;
    }

    private void open() throws XMLStreamException {
        children[depth]++;
        if (children[depth] > childrenMax) {
            throw refuse("an element has more than " + childrenMax + " children");
        }
        if (depth == DEPTH_MAX) {
            throw refuse("elements are deeper than " + DEPTH_MAX);
        }
        depth++;
        children[depth] = 0;
        int attributes = getAttributeCount();
        if (attributes > ATTRIBUTES_MAX) {
            throw refuse("an element has more than " + ATTRIBUTES_MAX + " attributes");
        }
        for (int at = 0; at < attributes; at++) {
            if (getAttributeValue(at).length() > ATTRIBUTE_CHARACTERS_MAX) {
                throw refuse("an attribute has more than " + ATTRIBUTE_CHARACTERS_MAX + " characters");
            }
        }
    }

    private XMLStreamException refuse(String because) {
        return new XMLStreamException(because, getLocation());
    }
}
