package wirelab.caller.iiop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static wirelab.caller.CarriedOut.TEN;
import static wirelab.caller.CarriedOut.assertFailed;
import static wirelab.caller.CarriedOut.assertRight;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import wirelab.caller.CarriedOut;

/** Plans that JacORB carries out, against an object that answers by bytes of its own. */
class IiopTest {
    private static final int REPLY = 1;
    private static final int HEADER = 12;

    /** Big-endian Request of GIOP 1.2 (CORBA 3.3 part 2, section 9.4.2). */
    private record Request(int minor, int flags, int id, String key, String operation, int bodyBytes) {
        static Request read(byte[] header, ByteBuffer rest) {
            int id = rest.getInt();
            rest.getInt(); // response_flags and what is reserved
            rest.getShort(); // KeyAddr
            rest.position(align(rest.position(), 4));
            String key = text(rest);
            rest.position(align(rest.position(), 4));
            String operation = text(rest).replace("\0", "");
            rest.position(align(rest.position(), 4));
            for (int contexts = rest.getInt(); contexts > 0; contexts--) {
                rest.position(align(rest.position(), 4));
                rest.getInt();
                text(rest);
            }
            return new Request(header[5], header[6], id, key, operation, rest.remaining());
        }

        private static String text(ByteBuffer from) {
            byte[] bytes = new byte[from.getInt()];
            from.get(bytes);
            return new String(bytes, StandardCharsets.US_ASCII);
        }
    }

    /** What an object does with a request. */
    private interface Behaviour {
        void answer(Request request, Socket to) throws IOException;
    }

    private final List<Request> requests = new CopyOnWriteArrayList<>();
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private ServerSocket listening;

    @BeforeEach
    void listen() throws IOException {
        listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    @AfterEach
    void stop() throws IOException {
        listening.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    private static int align(int at, int to) {
        return (at + to - 1) / to * to;
    }

    private String startServer(Behaviour behaviour) {
        start(() -> {
            while (true) {
                Socket socket = listening.accept();
                sockets.add(socket);
                start(() -> serve(socket, behaviour));
            }
        });
        return "127.0.0.1:" + listening.getLocalPort();
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void start(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException closed) {
                // The test or the caller has ended.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void serve(Socket socket, Behaviour behaviour) throws IOException {
        DataInputStream input = new DataInputStream(socket.getInputStream());
        byte[] header = new byte[HEADER];
        while (true) {
            input.readFully(header);
            byte[] body = new byte[ByteBuffer.wrap(header).getInt(8)];
            input.readFully(body);
            if (header[7] == 0) {
                // Alignment counts from the header.
                ByteBuffer whole = ByteBuffer.allocate(HEADER + body.length).put(header).put(body).position(HEADER);
                Request request = Request.read(header, whole);
                requests.add(request);
                behaviour.answer(request, socket);
            }
        }
    }

    private static void reply(Request to, Socket by, int status, ByteBuffer body) throws IOException {
        body.flip();
        int size = 3 * 4 + body.remaining();
        ByteBuffer message = ByteBuffer.allocate(HEADER + size);
        message.put("GIOP".getBytes(StandardCharsets.US_ASCII)).put((byte) 1).put((byte) 2).put((byte) 0);
        message.put((byte) REPLY).putInt(size).putInt(to.id()).putInt(status).putInt(0).put(body);
        OutputStream output = by.getOutputStream();
        output.write(message.array());
        output.flush();
    }

    private static ByteBuffer text(String text, boolean ends) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        ByteBuffer body = ByteBuffer.allocate(100).putInt(bytes.length + (ends ? 1 : 0)).put(bytes);
        return ends ? body.put((byte) 0) : body;
    }

    private static void hello(Request request, Socket to) throws IOException {
        reply(request, to, 0, text("Hello, wirelab", request.operation().equals("hello")));
    }

    private static JsonNode runPlan(String address, String axes, String operation, String rest)
            throws IOException {
        String group = rest + ",'object':'corbaloc:iiop:1.2@" + address + "/KEY'";
        return CarriedOut.group(address, "'binding':'iiop','byte_order':'big'" + axes, operation, group);
    }

    @ParameterizedTest
    @CsvSource({"Hello,keep,1", "HelloBytes,keep,1", "Hello,close,10", "HelloBytes,close,10"})
    void requestsAreTheContractsOverSuchConnections(String operation, String connection, int opened)
            throws IOException {
        String axes = ",'connection':'" + connection + "'";
        JsonNode group = runPlan(startServer(IiopTest::hello), axes, operation, TEN);
        assertRight(group);
        assertEquals(10, requests.size(), "and nobody was asked for the type of the object");
        String name = operation.substring(0, 1).toLowerCase() + operation.substring(1);
        for (Request request : requests) {
            Request said = new Request(2, 0, request.id(), "KEY", name, 0);
            assertEquals(said, request);
        }
        assertEquals(opened, sockets.size());
        assertEquals(opened, group.get("connections_opened").asInt());
        assertTrue(group.get("times").has("write") && !group.get("times").has("read"), group::toString);
    }

    @Test
    void everyUserHasAConnection() throws IOException {
        CountDownLatch users = new CountDownLatch(3);
        String target = startServer((request, to) -> {
            CarriedOut.meet(users);
            hello(request, to);
        });
        JsonNode group = runPlan(target, "", "Hello", TEN.replace("'users':1", "'users':3"));
        assertEquals(10, group.get("ok").asInt(), group::toString);
        assertEquals(3, group.get("connections_opened").asInt(), group::toString);
    }

    @Test
    void anotherTextIsWrong() throws IOException {
        String target = startServer((request, to) -> reply(request, to, 0, text("Hello, wirelaB", true)));
        assertFailed(runPlan(target, "", "Hello", TEN), "wrong", "wrong_reply");
    }

    @Test
    void aReplyThatBreaksOffIsWrong() throws IOException {
        String target = startServer((request, to) -> reply(request, to, 0, ByteBuffer.allocate(4).putInt(1000)));
        assertFailed(runPlan(target, "", "Hello", TEN), "wrong", "wrong_reply");
    }

    @Test
    void anExceptionIsAnErrorOfTheApplication() throws IOException {
        // SYSTEM_EXCEPTION: id, minor code, COMPLETED_NO.
        ByteBuffer exception = text("IDL:omg.org/CORBA/UNKNOWN:1.0", true);
        exception.position(align(exception.position(), 4));
        byte[] body = new byte[exception.putInt(0).putInt(1).position()];
        exception.flip().get(body);
        String target = startServer(
                (request, to) -> reply(request, to, 2, ByteBuffer.allocate(body.length).put(body)));
        assertFailed(runPlan(target, "", "Hello", TEN), "application", "application_error");
    }

    @Test
    void aClosedPortRefuses() throws IOException {
        assertFailed(runPlan(CarriedOut.nobody(), "", "Hello", TEN), "refused", "connection_refused");
    }

    @Test
    void aDroppedConnectionIsClosed() throws IOException {
        String target = startServer((request, to) -> to.close());
        assertFailed(runPlan(target, "", "Hello", TEN), "closed", "connection_closed");
        assertEquals(10, requests.size(), "no call was made again");
    }

    @Test
    void aSlowReplyIsATimeout() throws IOException {
        String target = startServer((request, to) -> { });
        assertFailed(runPlan(target, "", "Hello", TEN + ",'timeout_s':0.05"), "timeout", "timeout");
    }
}
