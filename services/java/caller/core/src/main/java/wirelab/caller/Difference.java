package wirelab.caller;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Finds the first field in which two messages of a contract differ. */
final class Difference {
    private static final ClassValue<Field[]> FIELDS = new ClassValue<>() {
        @Override
        protected Field[] computeValue(Class<?> message) {
            return Arrays.stream(message.getFields())
                    .filter(field -> !Modifier.isStatic(field.getModifiers()))
                    .toArray(Field[]::new);
        }
    };

    private Difference() {}

    /** Throws what is wrong; {@code name} is that of the value, empty of a whole reply. */
    static void check(String name, Object expected, Object found) throws Failure {
        if (found == null) {
            throw Failure.wrong(name.isEmpty() ? "there is no reply" : name + " is absent");
        }
        if (expected instanceof String text) {
            checkText(name, text, found);
        } else if (expected instanceof byte[] bytes) {
            checkBytes(name, bytes, (byte[]) found);
        } else if (expected instanceof List<?> items) {
            checkItems(name, items, (List<?>) found);
        } else if (expected instanceof Number || expected instanceof Boolean) {
            unless(Objects.equals(expected, found), name + " is " + found + ", not " + expected);
        } else {
            checkFields(name, expected, found);
        }
    }

    private static void checkText(String name, String expected, Object found) throws Failure {
        if (!expected.equals(found)) {
            String text = (String) found;
            unless(text.length() == expected.length(),
                    name + " has " + text.length() + " characters, not " + expected.length());
            throw Failure.wrong(name + ", of " + text.length() + " characters, is not the contract's");
        }
    }

    private static void checkBytes(String name, byte[] expected, byte[] found) throws Failure {
        unless(expected.length == found.length, name + " has " + found.length + " bytes, not " + expected.length);
        int at = Arrays.mismatch(expected, found);
        unless(at < 0, name + " differs from the contract's at byte " + at);
    }

    private static void checkItems(String name, List<?> expected, List<?> found) throws Failure {
        for (int at = 0; at < Math.min(expected.size(), found.size()); at++) {
            check(name + "[" + at + "]", expected.get(at), found.get(at));
        }
        unless(expected.size() == found.size(), name + " has " + found.size() + " items, not " + expected.size());
    }

    private static void checkFields(String name, Object expected, Object found) throws Failure {
        for (Field field : FIELDS.get(expected.getClass())) {
            String path = name.isEmpty() ? field.getName() : name + "." + field.getName();
            try {
                check(path, field.get(expected), field.get(found));
            } catch (IllegalAccessException impossible) {
                throw new IllegalStateException("fields of messages are public", impossible);
            }
        }
    }

    private static void unless(boolean right, String what) throws Failure {
        if (!right) {
            throw Failure.wrong(what);
        }
    }
}
