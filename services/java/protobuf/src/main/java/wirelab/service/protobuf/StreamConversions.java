package wirelab.service.protobuf;

import wirelab.service.contract.message.StreamMessages;
import wirelab.stream.v1.FeedRequest;
import wirelab.stream.v1.Item;
import wirelab.stream.v1.PushReply;

/** The messages of contract {@code stream} from and to their generated classes. */
public final class StreamConversions {
    private StreamConversions() {}

    /** What a client asks for. */
    public static StreamMessages.FeedRequest convert(FeedRequest ask) {
        StreamMessages.FeedRequest asked = new StreamMessages.FeedRequest();
        asked.count = ask.getCount();
        asked.bytes = ask.getBytes();
        asked.gap_us = ask.getGapUs();
        asked.pattern = ask.getPattern();
        asked.seed = ask.getSeed();
        return asked;
    }

    /** An item of a client, without its times. */
    public static StreamMessages.Item convert(Item item) {
        StreamMessages.Item sent = new StreamMessages.Item();
        sent.index = item.getIndex();
        sent.text = item.getText();
        return sent;
    }

    /** An item of the service. */
    public static Item convert(StreamMessages.Item item) {
        return Item.newBuilder().setIndex(item.index).setDueNs(item.due_ns).setSentNs(item.sent_ns)
                .setReceivedNs(item.received_ns).setText(item.text).build();
    }

    /** What Push answers. */
    public static PushReply convert(StreamMessages.PushReply reply) {
        return PushReply.newBuilder()
                .setCount(reply.count).setBytes(reply.bytes).setSha256(reply.sha256).build();
    }
}
