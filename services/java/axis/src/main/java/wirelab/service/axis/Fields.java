package wirelab.service.axis;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.ParameterizedType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.xml.namespace.QName;
import org.apache.axis.Constants;
import org.apache.axis.description.ParameterDesc;

/** A message's fields as parameters of a call of SOAP 1.1 section 7. */
final class Fields {
    private Fields() {}

    /** The fields in the order of the contract. */
    static List<Field> of(Class<?> message) {
        return Arrays.asList(message.getFields());
    }

    /** How Axis is to read or write a field. */
    static ParameterDesc describe(Field field, byte mode, String namespace) {
        Class<?> type = field.getType() == List.class ? item(field).arrayType() : field.getType();
        ParameterDesc described =
                new ParameterDesc(new QName(field.getName()), mode, xmlType(type, namespace), type, false, false);
        if (field.getType() == List.class) {
            described.setItemQName(new QName("item"));
        }
        return described;
    }

    /** The class of a field's message, or of its items; null where it is a simple value. */
    static Class<?> struct(Field field) {
        if (field.getType() == List.class) {
            return item(field);
        }
        return field.getType().getEnclosingClass() == null ? null : field.getType();
    }

    /** The class of a repeated field's items. */
    static Class<?> item(Field repeated) {
        return (Class<?>) ((ParameterizedType) repeated.getGenericType()).getActualTypeArguments()[0];
    }

    private static QName xmlType(Class<?> type, String namespace) {
        if (type == String.class) {
            return Constants.XSD_STRING;
        }
        if (type == int.class) {
            return Constants.XSD_INT;
        }
        if (type == long.class) {
            return Constants.XSD_LONG;
        }
        if (type == boolean.class) {
            return Constants.XSD_BOOLEAN;
        }
        if (type == double.class) {
            return Constants.XSD_DOUBLE;
        }
        if (type == byte[].class) {
            return Constants.XSD_BASE64;
        }
        return type.isArray() ? Constants.SOAP_ARRAY : new QName(namespace, type.getSimpleName());
    }

    /** Puts what Axis read into a field; throws {@link IllegalArgumentException} where it is of another type. */
    static void set(Object message, Field field, Object value) throws IllegalAccessException {
        if (field.getType() != List.class) {
            field.set(message, value);
            return;
        }
        List<Object> items = new ArrayList<>();
        if (value instanceof List<?> list) {
            items.addAll(list);
        } else {
            for (int at = 0; at < Array.getLength(value); at++) {
                items.add(Array.get(value, at));
            }
        }
        for (Object item : items) {
            if (!item(field).isInstance(item)) {
                throw new IllegalArgumentException(field.getName() + " holds a value that is not of type " + item(field).getSimpleName());
            }
        }
        field.set(message, items);
    }

    /** A field's value as Axis is to write it. */
    static Object get(Object message, Field field) throws IllegalAccessException {
        Object value = field.get(message);
        return value instanceof List<?> items
                ? items.toArray((Object[]) Array.newInstance(item(field), items.size()))
                : value;
    }
}
