package wirelab.service.rest.websocket;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.InvalidProtocolBufferException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import wirelab.service.contract.message.StreamMessages.FeedRequest;
import wirelab.service.contract.message.StreamMessages.Item;
import wirelab.service.contract.message.StrictJackson;
import wirelab.service.protobuf.StreamConversions;

/** A message of a client that is not the end of a stream; its stream decides what it has to be. */
interface ReceivedMessage {
    /** A request of Feed. */
    FeedRequest request() throws Malformed;

    /** An item of Push or Chat. */
    Item item() throws Malformed;

    /** A message that is not what its codec says. */
    final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;

        Malformed(Throwable cause) {
            super(String.valueOf(cause.getMessage()).lines().findFirst().orElse(""), cause);
        }

        Malformed(String text) {
            super(text);
        }
    }

    /** A text message with codec json. */
    record Json(String text) implements ReceivedMessage {
        static final ObjectMapper MAPPER = StrictJackson.builder(new JsonFactory()).build();

        @Override
        public FeedRequest request() throws Malformed {
            return read(FeedRequest.class);
        }

        @Override
        public Item item() throws Malformed {
            Item item = read(Item.class);
            // Only an escape can be half a pair. UTF-8 has none, and Chat would have to send it.
            if (text.contains("\\u") && !StandardCharsets.UTF_8.newEncoder().canEncode(item.text)) {
                throw new Malformed("the text of an item has half a surrogate pair");
            }
            return item;
        }

        private <T> T read(Class<T> message) throws Malformed {
            try {
                T read = MAPPER.readValue(text, message);
                if (read == null) {
                    throw new Malformed("null is not a " + message.getSimpleName());
                }
                return read;
            } catch (JsonProcessingException error) {
                throw new Malformed(error);
            }
        }
    }

    /** A binary message with codec protobuf. */
    record Protobuf(ByteBuffer bytes) implements ReceivedMessage {
        @Override
        public FeedRequest request() throws Malformed {
            try {
                return StreamConversions.convert(wirelab.stream.v1.FeedRequest.parseFrom(bytes));
            } catch (InvalidProtocolBufferException error) {
                throw new Malformed(error);
            }
        }

        @Override
        public Item item() throws Malformed {
            try {
                return StreamConversions.convert(wirelab.stream.v1.Item.parseFrom(bytes));
            } catch (InvalidProtocolBufferException error) {
                throw new Malformed(error);
            }
        }
    }
}
