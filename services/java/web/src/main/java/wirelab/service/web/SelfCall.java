package wirelab.service.web;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.net.ssl.SSLException;
import wirelab.service.Configuration;

/** One call of the service to itself over its own address, so that {@code ready} is printed only when it can be called. */
public final class SelfCall {
    /** What is asked; {@code body} is null for a GET. Header fields without those that frame the message. */
    public record Request(String path, Map<String, String> fields, byte[] body) {
        String method() {
            return body == null ? "GET" : "POST";
        }
    }

    private SelfCall() {}

    /** One call on a connection of its own. */
    private interface Caller {
        void call(OwnConnection connection) throws IOException;
    }

    /** Fails unless the service answers with a status of 200 or, for an error of the contract, 400 or 500. */
    public static void make(Configuration configuration, String address, Request request) throws IOException {
        boolean http2 = configuration.stack().transport().equals("http/2");
        boolean secure = !configuration.stack().security().equals("none");
        make(configuration, address, connection -> {
            int status = http2
                    ? Http2Probe.status(connection, request, secure)
                    : callOverHttp1(connection, request);
            if (status != 200 && status != 400 && status != 500) {
                throw new IOException("the service answered its own call with status " + status);
            }
        });
    }

    /** The same over WebSocket: the body is a message, and an empty text ends what answers it. */
    public static void makeByWebSocket(Configuration configuration, String address, Request request)
            throws IOException {
        boolean text = configuration.stack().codec().equals("json");
        make(configuration, address, connection -> WebSocketProbe.call(connection, request, text));
    }

    private static void make(Configuration configuration, String address, Caller caller)
            throws IOException {
        int patienceMs = (int) (20_000 + configuration.delayUs() / 1000);
        try (OwnConnection connection = OwnConnection.open(configuration, address, patienceMs)) {
            caller.call(connection);
        } catch (SSLException untrusted) {
            // With mtls the service does not trust itself unless its certificate is a client's too:
            // being turned away is then the right answer.
            if (!configuration.stack().security().equals("mtls")) {
                throw untrusted;
            }
        }
    }

    private static int callOverHttp1(OwnConnection connection, Request request) throws IOException {
        Map<String, String> fields = new LinkedHashMap<>(request.fields());
        fields.put("Host", "localhost");
        fields.put("Connection", "close");
        if (request.body() != null) {
            fields.put("Content-Length", String.valueOf(request.body().length));
        }
        StringBuilder head = new StringBuilder(request.method() + " " + request.path() + " HTTP/1.1\r\n");
        fields.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        message.writeBytes(head.append("\r\n").toString().getBytes(StandardCharsets.US_ASCII));
        message.writeBytes(request.body() == null ? new byte[0] : request.body());
        OutputStream out = connection.output();
        out.write(message.toByteArray());
        out.flush();
        return status(connection.input());
    }

    private static int status(InputStream input) throws IOException {
        byte[] start = input.readNBytes("HTTP/1.1 200".length());
        input.readAllBytes();
        String line = new String(start, StandardCharsets.US_ASCII);
        if (!line.matches("HTTP/1\\.[01] \\d{3}")) {
            throw new IOException("the service answered its own call with \"" + line + "\"");
        }
        return Integer.parseInt(line.substring(9));
    }
}
