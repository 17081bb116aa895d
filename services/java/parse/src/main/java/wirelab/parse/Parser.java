package wirelab.parse;

/** One parser with what it keeps from one document to the next. */
interface Parser {
    /** Reads a whole document and returns a number that depends on every character of texts and attribute values. */
    long parse(byte[] document) throws Exception;

    /** Of the document's content: equal for all parsers of the same document. */
    String fingerprint(byte[] document) throws Exception;

    /** The class that does the work. */
    Class<?> implementation();

    /** For the document of that name: formats other than XML do not name their message. */
    default Parser of(String name) {
        return this;
    }
}
