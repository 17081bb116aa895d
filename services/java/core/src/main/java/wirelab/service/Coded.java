package wirelab.service;

/** A reply that a call was answered with, for timing its codec alone. Its methods run the code of the request path. */
public interface Coded {
    /** What is encoded, copied where encoding leaves something behind in it, such as sizes of messages. */
    Object message() throws Exception;

    /** The bytes of {@link #message}. */
    byte[] encode(Object message) throws Exception;

    /** A message of the bytes of {@link #encode}. */
    Object decode(byte[] bytes) throws Exception;
}
