package wirelab.parse;

import com.ximpleware.NavException;
import com.ximpleware.VTDGen;
import com.ximpleware.VTDNav;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import javax.xml.XMLConstants;

/**
 * VTD-XML: an index of the document's tokens, walked through in document order. It has
 * no names as strings: they are read from the index, and prefixes are resolved here, as others do it.
 */
final class VtdParser extends XmlParser {
    private static final Map<String, String> OUTERMOST = Map.of(XMLConstants.XML_NS_PREFIX, XMLConstants.XML_NS_URI);

    private final VTDGen generator = new VTDGen();

    VtdParser() {
        // Otherwise texts of white space alone have no token.
        generator.enableIgnoredWhiteSpace(true);
    }

    @Override
    void read(byte[] document, Content content) throws Exception {
        generator.clear();
        generator.setDoc(document);
        generator.parse(true);
        new Walk(generator.getNav(), content).run();
    }

    @Override
    public Class<?> implementation() {
        return VTDGen.class;
    }

    private static final class Walk {
        private final VTDNav tokens;
        private final Content content;
        /** Prefixes in scope of each open element: the map of the element around it where it declares none. */
        private final Deque<Map<String, String>> scopes = new ArrayDeque<>();
        private int open;

        Walk(VTDNav tokens, Content content) {
            this.tokens = tokens;
            this.content = content;
        }

        void run() throws Exception {
            int count = tokens.getTokenCount();
            for (int at = 0; at < count; at++) {
                int depth = tokens.getTokenDepth(at);
                switch (tokens.getTokenType(at)) {
                    case VTDNav.TOKEN_STARTING_TAG -> {
                        close(depth);
                        start(at, count);
                    }
                    case VTDNav.TOKEN_ATTR_NAME -> attribute(at);
                    case VTDNav.TOKEN_CHARACTER_DATA -> {
                        // A leaf of white space alone has its text twice (2.13.4).
                        if (depth >= 0 && tokens.getTokenOffset(at) != tokens.getTokenOffset(at - 1)) {
                            close(depth + 1);
                            content.text(tokens.toString(at));
                        }
                    }
                    case VTDNav.TOKEN_CDATA_VAL -> {
                        close(depth + 1);
                        content.text(tokens.toRawString(at));
                    }
                    case VTDNav.TOKEN_DTD_VAL -> throw new Refused("the document has a document type declaration");
                    default -> { }
                }
            }
            close(0);
        }

        /** Ends elements until {@code left} are open. */
        private void close(int left) {
            for (; open > left; open--) {
                content.end();
                scopes.pop();
            }
        }

        private void start(int at, int count) throws NavException {
            open++;
            Map<String, String> around = scopes.isEmpty() ? OUTERMOST : scopes.peek();
            Map<String, String> scope = around;
            for (int next = at + 1; next < count && isAttribute(next); next++) {
                if (tokens.getTokenType(next) == VTDNav.TOKEN_ATTR_NS) {
                    scope = scope == around ? new HashMap<>(around) : scope;
                    String name = tokens.toRawString(next);
                    scope.put(name.length() > 5 ? name.substring(6) : "", tokens.toString(next + 1));
                }
            }
            scopes.push(scope);
            String name = tokens.toRawString(at);
            content.start(scope.getOrDefault(prefix(name), ""), local(name));
        }

        private boolean isAttribute(int at) {
            int type = tokens.getTokenType(at);
            return type == VTDNav.TOKEN_ATTR_NAME || type == VTDNav.TOKEN_ATTR_NS || type == VTDNav.TOKEN_ATTR_VAL;
        }

        private void attribute(int at) throws NavException {
            String name = tokens.toRawString(at);
            // An attribute without a prefix is in no namespace, whatever the default is.
            String namespace = prefix(name).isEmpty() ? "" : scopes.element().get(prefix(name));
            content.attribute(namespace, local(name), tokens.toString(at + 1));
        }

        private static String prefix(String name) {
            return name.substring(0, Math.max(0, name.indexOf(':')));
        }

        private static String local(String name) {
            return name.substring(name.indexOf(':') + 1);
        }
    }
}
