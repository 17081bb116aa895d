package wirelab.caller;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import wirelab.service.contract.Text;

/**
 * What is called, how, and what it must answer. {@code object} is a reference of CORBA, null elsewhere;
 * {@code axes} are those of the stack that are not at their default.
 */
public record Target(
        String address, String object, Map<String, String> axes, boolean isBytes, Duration timeout, String text,
        Secrets secrets) {
    /** Name and password of a UsernameToken, or file and password of keys; null where there are none. */
    public record Secrets(String username, String keystore, String password) {}

    static Target of(Plan.Group group) {
        return new Target(
                group.target(), group.object(), group.stack(), group.isBytes(),
                Duration.ofNanos(Plan.ns(group.timeoutS())), Text.text(group.workload().bytes()), secrets(group));
    }

    private static Secrets secrets(Plan.Group group) {
        if (group.keystore() != null) {
            return new Secrets(null, group.keystore().path(), group.keystore().password());
        }
        return group.username() == null ? null : new Secrets(group.username(), null, group.password());
    }

    /** The value of an axis, or what it is when the plan does not name it. */
    public String axis(String name, String otherwise) {
        return axes.getOrDefault(name, otherwise);
    }

    /** Whether each call has a connection of its own. */
    public boolean closes() {
        return axis("connection", "keep").equals("close");
    }

    /** The check of a decoded reply against the contract's text; null: the reply has none. */
    public void compare(String reply) throws Failure {
        int length = reply == null ? 0 : reply.length();
        if (length != text.length()) {
            throw Failure.wrong("the reply has a text of " + length + " bytes, not " + text.length());
        }
        if (!text.equals(reply)) {
            throw Failure.wrong("the reply's text of " + length + " bytes is not the contract's");
        }
    }

    /** The same of bytes. */
    public void compare(byte[] reply) throws Failure {
        compare(reply == null ? null : new String(reply, StandardCharsets.ISO_8859_1));
    }
}
