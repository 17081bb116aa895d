package wirelab.service.axis;

import javax.xml.namespace.QName;
import org.apache.axis.encoding.ser.BaseDeserializerFactory;
import org.apache.axis.encoding.ser.SimpleDeserializer;
import wirelab.service.contract.message.Lexical;

/** Reads a simple value by XML Schema part 2. Axis's own skips what is not base64 and takes any word with a t for true. */
public final class StrictDeserializer extends SimpleDeserializer {
    private static final long serialVersionUID = 1L;

    private final Class<?> type;

    /** Made by Axis, for every value. */
    public StrictDeserializer(Class<?> type, QName name) {
        super(type, name);
        this.type = type;
    }

    @Override
    public Object makeValue(String text) {
        return Lexical.read(type, text);
    }

    /** Makes them. */
    static final class Factory extends BaseDeserializerFactory {
        private static final long serialVersionUID = 1L;

        Factory(Class<?> type, QName name) {
            super(StrictDeserializer.class, name, type);
        }
    }
}
