package wirelab.service.rest.websocket;

import jakarta.websocket.CloseReason;
import jakarta.websocket.CloseReason.CloseCodes;
import jakarta.websocket.Endpoint;
import jakarta.websocket.EndpointConfig;
import jakarta.websocket.MessageHandler;
import jakarta.websocket.Session;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.function.Function;
import org.apache.tomcat.websocket.Constants;
import wirelab.service.contract.Stream;

/**
 * One connection. It joins the parts of a message itself: for whole messages Tomcat would keep a
 * buffer of the greatest length with each connection, and it would count characters, not bytes.
 * Frames and UTF-8 are checked by Tomcat.
 */
final class StreamEndpoint extends Endpoint {
    /** Of a char. */
    private static final int UTF8_BYTES_MAX = 3;

    private final boolean text;
    private final Function<MessageSender, StreamOperation> operations;
    private final Set<StreamEndpoint> open;
    /** Of a message in parts, as far as it has come; null between two of them. */
    private StringBuilder characters;
    private ByteArrayOutputStream octets;
    private Session session;
    private MessageSender sender;
    private StreamOperation operation;

    /** {@code text}: with codec json. While it is connected it is in {@code open}. */
    StreamEndpoint(
            boolean text,
            Function<MessageSender, StreamOperation> operations,
            Set<StreamEndpoint> open) {
        this.text = text;
        this.operations = operations;
        this.open = open;
    }

    @Override
    public void onOpen(Session opened, EndpointConfig config) {
        session = opened;
        sender = new MessageSender(opened, text);
        operation = operations.apply(sender);
        open.add(this);
        opened.addMessageHandler(String.class, handle(this::takeText));
        opened.addMessageHandler(ByteBuffer.class, handle(this::takeBinary));
    }

    /** Takes a part of a message. */
    private interface PartTaker<T> {
        void take(T part, boolean last) throws IOException;
    }

    /** Drops what comes after the close that was sent. */
    private <T> MessageHandler.Partial<T> handle(PartTaker<T> taker) {
        return (part, last) -> {
            if (!session.isOpen()) {
                return;
            }
            try {
                taker.take(part, last);
            } catch (IOException gone) {
                throw new UncheckedIOException(gone);
            }
        };
    }

    private void takeText(String part, boolean last) throws IOException {
        if (!text && !part.isEmpty()) {
            sender.close(CloseCodes.CANNOT_ACCEPT, "messages are binary here");
        } else if (last && characters == null) {
            receiveText(part);
        } else {
            characters = characters == null ? new StringBuilder() : characters;
            characters.append(part);
            if (characters.length() > Stream.MESSAGE_BYTES_MAX) {
                refuseLength();
            } else if (last) {
                String whole = characters.toString();
                characters = null;
                receiveText(whole);
            }
        }
    }

    private void receiveText(String whole) throws IOException {
        if (whole.isEmpty()) {
            operation.receiveEnd();
        } else if (whole.length() > Stream.MESSAGE_BYTES_MAX / UTF8_BYTES_MAX
                && whole.getBytes(StandardCharsets.UTF_8).length > Stream.MESSAGE_BYTES_MAX) {
            refuseLength();
        } else {
            operation.receive(new ReceivedMessage.Json(whole));
        }
    }

    private void takeBinary(ByteBuffer part, boolean last) throws IOException {
        if (text) {
            sender.close(CloseCodes.CANNOT_ACCEPT, "messages are text here");
        } else if (last && octets == null) {
            // A part has at most the 8 KiB of Tomcat's buffer.
            operation.receive(new ReceivedMessage.Protobuf(part));
        } else {
            octets = octets == null ? new ByteArrayOutputStream() : octets;
            octets.write(part.array(), part.arrayOffset() + part.position(), part.remaining());
            if (octets.size() > Stream.MESSAGE_BYTES_MAX) {
                refuseLength();
            } else if (last) {
                byte[] whole = octets.toByteArray();
                octets = null;
                operation.receive(new ReceivedMessage.Protobuf(ByteBuffer.wrap(whole)));
            }
        }
    }

    private void refuseLength() throws IOException {
        characters = null;
        octets = null;
        String reason = "a message has at most " + Stream.MESSAGE_BYTES_MAX + " bytes";
        sender.close(CloseCodes.TOO_BIG, reason);
    }

    @Override
    public void onClose(Session closed, CloseReason reason) {
        open.remove(this);
        operation.cancel();
    }

    /** What is not a connection that failed is a mistake of this service. */
    @Override
    public void onError(Session failed, Throwable error) {
        boolean gone = error instanceof IOException || error instanceof UncheckedIOException;
        if (failed.isOpen() && !gone) {
            error.printStackTrace();
        }
    }

    /** Whether no stream is under way on it. */
    boolean isIdle() {
        return operation.isIdle();
    }

    /** Ends the connection with the service; waits at most that long for what is being written. */
    void stop(long waitMs) throws IOException {
        operation.cancel();
        try {
            session.getUserProperties()
                    .put(Constants.ABNORMAL_SESSION_CLOSE_SEND_TIMEOUT_PROPERTY, waitMs);
        } catch (IllegalStateException closed) {
            return;
        }
        sender.close(CloseCodes.GOING_AWAY, "the service ends");
    }
}
