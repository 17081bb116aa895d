package wirelab.caller;

import java.time.Duration;
import java.util.Map;

/**
 * What is called, and how. {@code object} is a reference of CORBA, null elsewhere; {@code axes} are those of
 * the stack that are not at their default.
 */
public record Target(
        String address, String object, Map<String, String> axes, Duration timeout, String contract, Secrets secrets) {
    /** Name and password of a UsernameToken, or file and password of keys; null where there are none. */
    public record Secrets(String username, String keystore, String password) {}

    static Target of(Plan.Group group) {
        return new Target(
                group.target(), group.object(), group.stack(), Duration.ofNanos(Plan.ns(group.timeoutS())),
                group.workload().contract(), secrets(group));
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
}
