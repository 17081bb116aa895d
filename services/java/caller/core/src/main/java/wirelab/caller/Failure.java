package wirelab.caller;

import java.io.EOFException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeoutException;

/** Why a call failed: kind and code as the engine names them ({@code crates/load/src/record/error.rs}). */
public final class Failure extends Exception {
    private static final long serialVersionUID = 1L;

    final String kind;
    final String code;

    private Failure(String kind, String code, String text) {
        super(text, null, false, false);
        this.kind = kind;
        this.code = code;
    }

    /** The reply is not the contract's. */
    public static Failure wrong(String text) {
        return new Failure("wrong", "wrong_reply", text);
    }

    /** The service answered with an error. */
    public static Failure application(String text) {
        return new Failure("application", "application_error", text);
    }

    /** There was no reply in time. */
    public static Failure timeout(String text) {
        return new Failure("timeout", "timeout", text);
    }

    /** What came breaks the protocol. */
    public static Failure protocol(String text) {
        return new Failure("protocol", "protocol_error", text);
    }

    /** The connection ended before the reply. */
    public static Failure closed(String text) {
        return new Failure("closed", "connection_closed", text);
    }

    /** Nobody accepted the connection. */
    public static Failure refused(String text) {
        return new Failure("refused", "connection_refused", text);
    }

    static Failure neverSent() {
        return new Failure("unfinished", "unfinished", "never sent: it still waited when the drain ended");
    }

    static Failure unfinished() {
        return new Failure("unfinished", "unfinished", "still under way when the drain ended");
    }

    /** Finds kind and cause of what a client threw. */
    static Failure of(Library library, Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof Failure known) {
                return known;
            }
        }
        Failure own = library.failure(error);
        return own != null ? own : ofNetwork(error);
    }

    /** The first cause that says more than that something failed. */
    public static Failure ofNetwork(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            Failure found = name(cause);
            if (found != null) {
                return found;
            }
        }
        return protocol(error.toString());
    }

    private static Failure name(Throwable cause) {
        String text = String.valueOf(cause.getMessage());
        if (cause instanceof HttpTimeoutException
                || cause instanceof SocketTimeoutException
                || cause instanceof TimeoutException) {
            return timeout(cause.toString());
        }
        if (cause instanceof ConnectException) {
            // HttpClient leaves the text out where the kernel said "Connection refused".
            boolean refused = cause.getMessage() == null || text.contains("refused");
            return new Failure("refused", refused ? "connection_refused" : "connect_failed", cause.toString());
        }
        if (text.contains("Connection reset") || text.contains("Broken pipe")) {
            return new Failure("reset", "reset", cause.toString());
        }
        if (cause instanceof EOFException || cause instanceof ClosedChannelException) {
            return closed(cause.toString());
        }
        return null;
    }
}
