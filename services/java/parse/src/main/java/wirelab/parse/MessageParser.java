package wirelab.parse;

import java.util.Map;

/** The requests of {@code charging} in a format other than XML: a decoder for each. */
final class MessageParser implements Parser {
    /** Decodes a message and passes its fields on. */
    @FunctionalInterface
    interface Decoder {
        void decode(byte[] document, Fields fields) throws Exception;
    }

    private final Map<String, Decoder> decoders;
    private final Class<?> implementation;
    private final Decoder decoder;
    private final Fields.Sum sum = new Fields.Sum();

    MessageParser(Class<?> implementation, Map<String, Decoder> decoders) {
        this(implementation, decoders, null);
    }

    private MessageParser(Class<?> implementation, Map<String, Decoder> decoders, Decoder decoder) {
        this.implementation = implementation;
        this.decoders = decoders;
        this.decoder = decoder;
    }

    @Override
    public Parser of(String name) {
        Decoder found = decoders.get(name);
        if (found == null) {
            throw new IllegalArgumentException("no message of charging is named " + name);
        }
        return new MessageParser(implementation, decoders, found);
    }

    @Override
    public long parse(byte[] document) throws Exception {
        decoder.decode(document, sum);
        return sum.take();
    }

    @Override
    public String fingerprint(byte[] document) throws Exception {
        Fingerprint fingerprint = new Fingerprint();
        decoder.decode(document, new Fields.Marked(fingerprint));
        return fingerprint.hex();
    }

    @Override
    public Class<?> implementation() {
        return implementation;
    }
}
