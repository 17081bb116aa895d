package wirelab.caller;

import static wirelab.caller.CarriedOut.TEN;
import static wirelab.caller.CarriedOut.assertFailed;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Plans that a library carries out over HTTP against a server of the JDK. */
public abstract class HttpLibraryTest {
    protected final String stack;
    protected final String type;
    protected final String reply;
    private final String path;
    private final ExecutorService handlers = Executors.newCachedThreadPool();
    private HttpServer server;

    /** Of the axes of a stack, and the path, media type and body of its replies to Hello. */
    protected HttpLibraryTest(String stack, String path, String type, String reply) {
        this.stack = stack;
        this.path = path;
        this.type = type;
        this.reply = reply;
    }

    @BeforeEach
    void create() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(handlers);
    }

    @AfterEach
    void stop() {
        server.stop(0);
        handlers.shutdownNow();
    }

    /** Serves the path, and returns the server's address as a plan has it. */
    protected String startServer(HttpHandler handler) {
        server.createContext(path, handler);
        server.start();
        return "127.0.0.1:" + server.getAddress().getPort();
    }

    /** Carries out a plan of Hello and returns the group's result. */
    protected JsonNode runPlan(String target, String rest) throws IOException {
        return CarriedOut.group(target, stack, "Hello", rest);
    }

    /** Reads the rest of a request and answers it. */
    protected static void answer(HttpExchange exchange, int status, String type, String body) throws IOException {
        exchange.getRequestBody().readAllBytes();
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    /** A server that answers every call alike. */
    protected HttpHandler replyHandler(int status, String body) {
        return exchange -> answer(exchange, status, type, body);
    }

    /** Waits, or until the server stops. */
    protected static void sleep(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void anotherTextIsWrong() throws IOException {
        String another = reply.replace("Hello, wirelab", "Hello, wirelaB");
        assertFailed(runPlan(startServer(replyHandler(200, another)), TEN), "wrong", "wrong_reply");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Hello, wirelab", "", "<!DOCTYPE a><a/>"})
    void whatCannotBeDecodedIsWrong(String body) throws IOException {
        assertFailed(runPlan(startServer(replyHandler(200, body)), TEN), "wrong", "wrong_reply");
    }

    @Test
    void aClosedPortRefuses() throws IOException {
        assertFailed(runPlan(CarriedOut.nobody(), TEN), "refused", "connection_refused");
    }

    @Test
    void aDroppedConnectionIsClosed() throws IOException {
        String target = startServer(exchange -> {
            // With bytes unread the kernel would reset the connection.
            exchange.getRequestBody().readAllBytes();
            exchange.close();
        });
        assertFailed(runPlan(target, TEN), "closed", "connection_closed");
    }

    @Test
    void aSlowReplyIsATimeout() throws IOException {
        String target = startServer(exchange -> {
            sleep(300);
            answer(exchange, 200, type, reply);
        });
        assertFailed(runPlan(target, TEN + ",'timeout_s':0.05"), "timeout", "timeout");
    }
}
