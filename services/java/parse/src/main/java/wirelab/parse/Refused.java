package wirelab.parse;

import org.xml.sax.SAXException;

/** A document that no parser here is given or may go on with. */
final class Refused extends SAXException {
    private static final long serialVersionUID = 1L;

    Refused(String reason) {
        super(reason);
    }
}
