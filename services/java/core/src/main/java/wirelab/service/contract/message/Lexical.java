package wirelab.service.contract.message;

/** Values of fields as XML Schema part 2 writes them. */
public final class Lexical {
    private Lexical() {}

    /** The value that {@code text} stands for; throws {@link IllegalArgumentException} when it stands for none. */
    public static Object read(Class<?> type, String text) {
        if (type == int.class) {
            return new Strict.Int().unmarshal(text);
        }
        if (type == long.class) {
            return new Strict.Whole().unmarshal(text);
        }
        if (type == boolean.class) {
            return new Strict.Truth().unmarshal(text);
        }
        if (type == double.class) {
            return new Strict.Real().unmarshal(text);
        }
        return type == byte[].class ? new Strict.Bytes().unmarshal(text) : text;
    }
}
