package wirelab.service.rest.websocket;

import com.google.protobuf.MessageLite;
import jakarta.websocket.CloseReason;
import jakarta.websocket.RemoteEndpoint;
import jakarta.websocket.Session;
import java.io.IOException;
import java.nio.ByteBuffer;
import wirelab.service.contract.message.ErrorMessage;
import wirelab.service.contract.message.StreamMessages.Item;
import wirelab.service.contract.message.StreamMessages.PushReply;
import wirelab.service.protobuf.StreamConversions;

/**
 * Sends to one client. A method returns when Tomcat has written all of the message, so nothing is
 * stored for a reader that is slow: it blocks the thread that sends. One thread sends at a time,
 * since the next stream may begin before the thread that sent the last one's end has returned
 * from Tomcat.
 */
final class MessageSender {
    private final Session session;
    private final RemoteEndpoint.Basic remote;
    private final boolean text;

    /** {@code text}: with codec json. */
    MessageSender(Session session, boolean text) {
        this.session = session;
        this.text = text;
        remote = session.getBasicRemote();
    }

    synchronized void send(Item item) throws IOException {
        if (text) {
            sendText(item);
        } else {
            sendBinary(StreamConversions.convert(item));
        }
    }

    synchronized void send(PushReply reply) throws IOException {
        if (text) {
            sendText(reply);
        } else {
            sendBinary(StreamConversions.convert(reply));
        }
    }

    /** Ends a stream. */
    synchronized void end() throws IOException {
        remote.sendText("");
    }

    /** Ends a stream with an error, which is a text message in both codecs. */
    synchronized void fail(String error) throws IOException {
        sendText(new ErrorMessage(error));
        remote.sendText("");
    }

    private void sendText(Object message) throws IOException {
        remote.sendText(ReceivedMessage.Json.MAPPER.writeValueAsString(message));
    }

    private void sendBinary(MessageLite message) throws IOException {
        remote.sendBinary(ByteBuffer.wrap(message.toByteArray()));
    }

    /** Ends the connection. */
    void close(CloseReason.CloseCode code, String reason) throws IOException {
        session.close(new CloseReason(code, reason));
    }
}
