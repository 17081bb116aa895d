package wirelab.parse;

/** A parser of XML; how it passes on a document is all that its kinds add. */
abstract class XmlParser implements Parser {
    private final Checksum checksum = new Checksum();

    /** Parses a document and passes its content on. */
    abstract void read(byte[] document, Content content) throws Exception;

    @Override
    public final long parse(byte[] document) throws Exception {
        checksum.take();
        read(document, checksum);
        return checksum.take();
    }

    @Override
    public final String fingerprint(byte[] document) throws Exception {
        Fingerprint fingerprint = new Fingerprint();
        read(document, fingerprint);
        return fingerprint.hex();
    }
}
