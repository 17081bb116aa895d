package wirelab.service.rest.websocket;

import jakarta.websocket.CloseReason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import wirelab.service.Calls;
import wirelab.service.contract.ApplicationError;
import wirelab.service.contract.FeedRun;
import wirelab.service.contract.Intake;
import wirelab.service.contract.Stream;
import wirelab.service.contract.message.StreamMessages.FeedRequest;
import wirelab.service.contract.message.StreamMessages.Item;

/**
 * One operation on one connection: its streams follow each other, and each is a call. Tomcat
 * delivers the messages of a connection by one thread at a time; the end of the connection may be
 * reported by any other.
 */
abstract class StreamOperation {
    final Calls calls;
    final Calls.Tally tally;
    final MessageSender sender;
    private volatile boolean gone;

    private StreamOperation(Calls calls, String operation, MessageSender sender) {
        this.calls = calls;
        this.sender = sender;
        tally = calls.tally(operation);
    }

    /** The operation of that name. */
    static StreamOperation of(String operation, Stream model, Calls calls, MessageSender sender) {
        return switch (operation) {
            case "Feed" -> new Feed(model, calls, sender);
            case "Push" -> new Push(calls, sender);
            default -> new Chat(calls, sender);
        };
    }

    /** A message has come. */
    abstract void receive(ReceivedMessage message) throws IOException;

    /** The client has ended its side of a stream. */
    abstract void receiveEnd() throws IOException;

    /** Ends the stream under way, if any; nothing more is sent. */
    abstract void drop();

    /** Whether no stream is under way. */
    abstract boolean isIdle();

    /** The connection has ended, or is about to. */
    final void cancel() {
        gone = true;
        drop();
    }

    /** To be called when a stream has begun: the connection may have ended in the meantime. */
    final void dropIfGone() {
        if (gone) {
            drop();
        }
    }

    private static final class Feed extends StreamOperation implements FeedRun.Reader {
        private final Stream model;
        private final AtomicReference<FeedRun> running = new AtomicReference<>();

        Feed(Stream model, Calls calls, MessageSender sender) {
            super(calls, "Feed", sender);
            this.model = model;
        }

        @Override
        void receive(ReceivedMessage message) throws IOException {
            if (running.get() != null) {
                sender.close(CloseReason.CloseCodes.VIOLATED_POLICY, "a feed is under way");
                return;
            }
            Calls.Call call = tally.begin();
            long receivedNs = System.nanoTime();
            String wrong;
            try {
                FeedRequest ask = message.request();
                Stream.check(ask);
                start(new FeedRun(model, calls, call, receivedNs, ask, this));
                return;
            } catch (ApplicationError error) {
                call.failed();
                wrong = error.getMessage();
            } catch (ReceivedMessage.Malformed error) {
                wrong = error.getMessage();
            }
            call.close();
            sender.fail(wrong);
        }

        private void start(FeedRun run) {
            running.set(run);
            run.start();
            dropIfGone();
        }

        @Override
        void receiveEnd() throws IOException {
            if (running.get() == null) {
                sender.fail("an end is not a FeedRequest");
            } else {
                sender.close(CloseReason.CloseCodes.VIOLATED_POLICY, "a feed is under way");
            }
        }

        @Override
        void drop() {
            FeedRun run = running.get();
            if (run != null) {
                run.cancel();
            }
        }

        @Override
        boolean isIdle() {
            return running.get() == null;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void send(Item item) throws IOException {
            sender.send(item);
        }

        @Override
        public void complete() {
            // Before the end is sent: the client may ask for the next feed as soon as it has that.
            running.set(null);
            try {
                sender.end();
            } catch (IOException gone) {
                throw new UncheckedIOException(gone);
            }
        }
    }

    /** Takes the items of a client. */
    private abstract static class Taker extends StreamOperation {
        private final AtomicBoolean open = new AtomicBoolean();
        private Calls.Call call;
        /** Of the stream under way; null between two streams. */
        private Intake intake;
        /** The stream was answered with an error: the rest of it is dropped. */
        private boolean failed;

        Taker(Calls calls, String operation, MessageSender sender) {
            super(calls, operation, sender);
        }

        /** The item is in order. */
        abstract void accept(Item item, long receivedNs) throws IOException;

        /** The client has sent its last item. */
        abstract void complete(Intake all) throws IOException;

        @Override
        final void receive(ReceivedMessage message) throws IOException {
            if (failed) {
                return;
            }
            begin();
            long receivedNs = System.nanoTime();
            try {
                Item item = message.item();
                intake.add(item.index, item.text);
                accept(item, receivedNs);
            } catch (ApplicationError error) {
                call.failed();
                fail(error.getMessage());
            } catch (ReceivedMessage.Malformed error) {
                fail(error.getMessage());
            }
        }

        private void begin() {
            if (intake == null) {
                intake = new Intake();
                call = tally.begin();
                open.set(true);
                dropIfGone();
            }
        }

        private void fail(String text) throws IOException {
            failed = true;
            endCall();
            sender.fail(text);
        }

        @Override
        final void receiveEnd() throws IOException {
            begin();
            Intake all = intake;
            boolean good = !failed;
            intake = null;
            failed = false;
            if (good && endCall()) {
                complete(all);
            }
        }

        @Override
        final boolean isIdle() {
            return !open.get();
        }

        /** Whether it had not ended before. */
        final boolean endCall() {
            boolean first = open.compareAndSet(true, false);
            if (first) {
                call.close();
            }
            return first;
        }
    }

    private static final class Push extends Taker {
        Push(Calls calls, MessageSender sender) {
            super(calls, "Push", sender);
        }

        @Override
        void accept(Item item, long receivedNs) {
            // Only their sum is kept.
        }

        @Override
        void complete(Intake all) throws IOException {
            sender.send(all.reply());
            sender.end();
        }

        @Override
        void drop() {
            endCall();
        }
    }

    /** An item is read when the answer to the one before it has been written. */
    private static final class Chat extends Taker {
        Chat(Calls calls, MessageSender sender) {
            super(calls, "Chat", sender);
        }

        @Override
        void accept(Item item, long receivedNs) throws IOException {
            Item answer = new Item();
            answer.index = item.index;
            answer.text = item.text;
            answer.received_ns = receivedNs;
            answer.sent_ns = System.nanoTime();
            sender.send(answer);
            calls.streams().addItem(false);
        }

        @Override
        void complete(Intake all) throws IOException {
            sender.end();
        }

        @Override
        void drop() {
            if (endCall()) {
                calls.streams().cancelled();
            }
        }
    }
}
