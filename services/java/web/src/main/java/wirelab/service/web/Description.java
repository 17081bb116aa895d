package wirelab.service.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Pattern;
import wirelab.service.Configuration;
import wirelab.service.contract.Model;

/** A contract's committed description in WSDL 1.1, with the address at which it is asked for. */
final class Description {
    /** The address that the committed descriptions name. */
    private static final String PLACEHOLDER = "location=\"http://127.0.0.1/";
    /** A host and port, and nothing that XML would have to escape: the field comes from the client. */
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9.:_\\[\\]-]+");

    private static final Map<String, String> SUFFIXES =
            Map.of("soap-literal", "", "soap-rpc", "-rpc", "soap-encoded", "-encoded");

    private final String committed;
    private final String scheme;

    Description(Configuration.Stack stack, Model model) {
        committed = read("wsdl/" + model.contract() + SUFFIXES.get(stack.codec()) + ".wsdl");
        scheme = stack.security().equals("none") ? "http" : "https";
    }

    /** True when {@code ?wsdl} is asked for, a convention of the toolkits, in either case. */
    static boolean isAsked(HttpServletRequest request) {
        return request.getMethod().equals("GET") && "wsdl".equalsIgnoreCase(request.getQueryString());
    }

    /** Clients generate their endpoint from it, so it names the address that they reached. */
    void answer(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String host = request.getHeader("Host");
        if (host == null) {
            // HTTP/2 has it in the target.
            host = request.getServerName() + ":" + request.getServerPort();
        }
        String text = !HOST.matcher(host).matches()
                ? committed
                : committed.replace(PLACEHOLDER, "location=\"" + scheme + "://" + host + "/");
        response.setContentType("text/xml;charset=utf-8");
        response.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    }

    /** {@code pom.xml} takes the files from the contracts into this package. */
    private static String read(String name) {
        try (InputStream file = Description.class.getResourceAsStream(name)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
