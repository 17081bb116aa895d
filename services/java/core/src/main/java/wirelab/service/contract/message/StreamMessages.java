package wirelab.service.contract.message;

/** The messages of {@code stream}; fields are named as in the .proto. */
public final class StreamMessages {
    private StreamMessages() {}

    /** Message {@code FeedRequest}. */
    public static final class FeedRequest {
        public int count;
        public int bytes;
        public long gap_us;
        public String pattern = "";
        public long seed;
    }

    /** Message {@code Item}. */
    public static final class Item {
        public int index;
        public long due_ns;
        public long sent_ns;
        public long received_ns;
        public String text = "";
    }

    /** Message {@code PushReply}. */
    public static final class PushReply {
        public int count;
        public long bytes;
        public String sha256 = "";

        /** All zero. */
        public PushReply() {}

        /** With these fields. */
        public PushReply(int count, long bytes, String sha256) {
            this.count = count;
            this.bytes = bytes;
            this.sha256 = sha256;
        }
    }
}
