package wirelab.service.soap;

import jakarta.xml.ws.Holder;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import org.apache.cxf.message.MessageContentsList;
import org.apache.cxf.service.model.MessageInfo;
import org.apache.cxf.service.model.MessagePartInfo;
import wirelab.service.contract.message.Lexical;

/** Messages of rpc/literal: their fields are the parts of the operation, by name. */
final class Parts {
    private Parts() {}

    /** A request of the parts that came; one that did not come leaves its field as it is in a new message. */
    static Object request(Class<?> message, MessageInfo parts, MessageContentsList values) {
        try {
            Object request = message.getConstructor().newInstance();
            for (MessagePartInfo part : parts.getMessageParts()) {
                Object value = values == null || !values.hasValue(part) ? null : values.get(part);
                if (value != null) {
                    set(request, message.getField(part.getName().getLocalPart()), value);
                }
            }
            return request;
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(message + " does not fit its rpc interface", impossible);
        }
    }

    private static void set(Object request, Field field, Object value) throws ReflectiveOperationException {
        if (field.getType() == List.class) {
            field.set(request, value.getClass().getField("item").get(value));
        } else {
            field.set(request, Lexical.read(field.getType(), (String) value));
        }
    }

    /**
     * The parts of a reply. CXF puts a holder for each part that is not a method's result among the
     * values that came, one place before the part's own, and looks for its content there.
     */
    static MessageContentsList reply(Object reply, MessageInfo parts, MessageContentsList came) {
        MessageContentsList values = new MessageContentsList();
        try {
            for (MessagePartInfo part : parts.getMessageParts()) {
                Object value = reply.getClass().getField(part.getName().getLocalPart()).get(reply);
                Object out = value instanceof List<?> items ? list(part.getTypeClass(), items) : value;
                int place = part.getIndex() - 1;
                if (came != null && place >= 0 && place < came.size() && came.get(place) instanceof Holder<?> holder) {
                    fill(holder, out);
                } else {
                    values.put(part, out);
                }
            }
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(reply.getClass() + " does not fit its rpc interface", impossible);
        }
        return values;
    }

    @SuppressWarnings("unchecked") // the holder is of the field's type, by the annotated interface
    private static void fill(Holder<?> holder, Object value) {
        ((Holder<Object>) holder).value = value;
    }

    private static Object list(Class<?> kind, List<?> items) throws ReflectiveOperationException {
        Object list = kind.getConstructor().newInstance();
        kind.getField("item").set(list, new ArrayList<>(items));
        return list;
    }
}
