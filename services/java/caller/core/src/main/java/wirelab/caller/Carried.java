package wirelab.caller;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import wirelab.service.contract.message.CalendarMessages;
import wirelab.service.contract.message.ChargingMessages;
import wirelab.service.contract.message.RecordsMessages;
import wirelab.service.contract.message.TransferMessages;

/** A value that goes from the reply of a step into a later request. */
record Carried(int from, List<Field> source, Field sink) {
    /** Finds both fields by their names; refuses those that are missing or of other types. */
    static Carried of(int from, String operation, Object request, Plan.Carry carry) {
        List<Field> source = new ArrayList<>();
        Class<?> message = replyOf(operation);
        for (String name : String.valueOf(carry.from()).split("\\.")) {
            Field field = field(message, name);
            source.add(field);
            message = field.getType();
        }
        Field sink = field(request.getClass(), String.valueOf(carry.to()));
        boolean isWider = message == int.class && sink.getType() == long.class;
        Refusal.unless(
                message == sink.getType() || isWider,
                "carry: fields " + carry.from() + " and " + carry.to() + " have different types");
        return new Carried(from, source, sink);
    }

    private static Field field(Class<?> message, String name) {
        for (Field field : message.getFields()) {
            if (field.getName().equals(name) && !Modifier.isStatic(field.getModifiers())) {
                return field;
            }
        }
        throw new Refusal("carry: " + message.getSimpleName() + " has no field " + name);
    }

    private static Class<?> replyOf(String operation) {
        String name = operation + "Reply";
        for (Class<?> contract : List.of(
                TransferMessages.class, ChargingMessages.class, CalendarMessages.class, RecordsMessages.class)) {
            for (Class<?> message : contract.getClasses()) {
                if (message.getSimpleName().equals(name)) {
                    return message;
                }
            }
        }
        throw new IllegalStateException("no message " + name);
    }

    /** Puts the value into a request. */
    void put(List<Object> replies, Object request) {
        try {
            Object value = replies.get(from);
            for (Field field : source) {
                value = field.get(value);
            }
            sink.set(request, value);
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException("fields of messages are public", impossible);
        }
    }

    /** Another message with the same fields. */
    static Object copy(Object message) {
        try {
            Object made = message.getClass().getConstructor().newInstance();
            for (Field field : message.getClass().getFields()) {
                if (!Modifier.isStatic(field.getModifiers())) {
                    field.set(made, field.get(message));
                }
            }
            return made;
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException("messages have a constructor without parameters", impossible);
        }
    }

    /** The number of that name in the last reply that has one; 0 where none has. */
    static int lastNumber(List<Object> replies, String name) {
        for (int at = replies.size() - 1; at >= 0; at--) {
            Object reply = replies.get(at);
            for (Field field : reply.getClass().getFields()) {
                if (field.getName().equals(name)) {
                    try {
                        return field.getInt(reply);
                    } catch (IllegalAccessException impossible) {
                        throw new IllegalStateException("fields of messages are public", impossible);
                    }
                }
            }
        }
        return 0;
    }
}
