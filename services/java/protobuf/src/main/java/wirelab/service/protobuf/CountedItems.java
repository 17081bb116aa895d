package wirelab.service.protobuf;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import wirelab.service.contract.Lists;

/** Counts the items of encoded messages before they are parsed: the library has no limit on them. */
public final class CountedItems {
    /** A message without more bytes has no list that is too long: an item takes a key and a length. */
    public static final int HARMLESS_BYTES = 2 * Lists.ITEMS_MAX;

    private CountedItems() {}

    /** Whether messages of that kind have lists. */
    public static boolean has(Descriptor message) {
        return message.getFields().stream().anyMatch(FieldDescriptor::isRepeated);
    }

    /** Throws where a list is too long, or where the parser would. */
    public static void check(Descriptor message, byte[] bytes) throws IOException {
        if (bytes.length <= HARMLESS_BYTES || !has(message)) {
            return;
        }
        CodedInputStream input = CodedInputStream.newInstance(bytes);
        int items = 0;
        for (int tag = input.readTag(); tag != 0; tag = input.readTag()) {
            FieldDescriptor field = message.findFieldByNumber(WireFormat.getTagFieldNumber(tag));
            if (field != null && field.isRepeated() && ++items > Lists.ITEMS_MAX) {
                throw new InvalidProtocolBufferException(Lists.TOO_MANY);
            }
            if (!input.skipField(tag)) {
                return; // the end of a group that never began: the parser's to refuse
            }
        }
    }
}
