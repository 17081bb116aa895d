package wirelab.parse;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * SHA-256 over elements, attributes and texts in the form that docs/reference/parsers.md describes:
 * equal for all parsers that saw the same document.
 */
final class Fingerprint implements Content {
    private final MessageDigest digest;
    private final StringBuilder text = new StringBuilder();
    /** In the order of their bytes. */
    private final SortedSet<byte[]> attributes = new TreeSet<>(Arrays::compareUnsigned);

    Fingerprint() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }

    @Override
    public void start(String namespace, String name) {
        flush();
        line("(", namespace + "}" + name);
    }

    @Override
    public void attribute(String namespace, String name, String value) {
        attributes.add(("@" + namespace + "}" + name + "=" + value + "\n").getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void text(String part) {
        text.append(part);
    }

    @Override
    public void text(char[] characters, int start, int length) {
        text.append(characters, start, length);
    }

    @Override
    public void end() {
        flush();
        line(")", "");
    }

    /** In hexadecimal digits; for a document that has ended. */
    String hex() {
        return HexFormat.of().formatHex(digest.digest());
    }

    private void flush() {
        attributes.forEach(digest::update);
        attributes.clear();
        if (text.length() > 0) {
            line("-", text.toString());
            text.setLength(0);
        }
    }

    private void line(String kind, String value) {
        digest.update((kind + value + "\n").getBytes(StandardCharsets.UTF_8));
    }
}
