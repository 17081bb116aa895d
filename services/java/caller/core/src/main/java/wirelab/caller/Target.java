package wirelab.caller;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import wirelab.service.contract.Text;

/** What is called, and what it must answer. */
public record Target(String address, String codec, boolean isBytes, boolean closes, Duration timeout, String text) {
    static Target of(Plan.Group group, String codec) {
        return new Target(
                group.target(), codec, group.isBytes(), group.closesConnections(),
                Duration.ofNanos(Plan.ns(group.timeoutS())), Text.text(group.workload().bytes()));
    }

    /** The check of a decoded reply against the contract's text. */
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
        compare(new String(reply, StandardCharsets.ISO_8859_1));
    }
}
