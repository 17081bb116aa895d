package wirelab.service.grpc;

import io.grpc.ServerCallHandler;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import wirelab.service.Calls;
import wirelab.service.contract.ApplicationError;
import wirelab.service.contract.FeedRun;
import wirelab.service.contract.Intake;
import wirelab.service.contract.Stream;
import wirelab.service.contract.message.StreamMessages;
import wirelab.service.protobuf.StreamConversions;
import wirelab.stream.v1.FeedRequest;
import wirelab.stream.v1.Item;
import wirelab.stream.v1.PushReply;

/** The operations of contract {@code stream}. A call ends with its stream. */
final class ItemStreams {
    private final Stream model;
    private final Calls calls;

    ItemStreams(Stream model, Calls calls) {
        this.model = model;
        this.calls = calls;
    }

    ServerCallHandler<?, ?> handler(String operation) {
        Calls.Tally tally = calls.tally(operation);
        return switch (operation) {
            case "Feed" -> ServerCalls.asyncServerStreamingCall(
                    (FeedRequest ask, StreamObserver<Item> answers) ->
                            feed(tally.begin(), ask, (ServerCallStreamObserver<Item>) answers));
            case "Push" -> ServerCalls.asyncClientStreamingCall(
                    (StreamObserver<PushReply> answers) -> new Push(tally.begin(), answers));
            default -> ServerCalls.asyncBidiStreamingCall(
                    (StreamObserver<Item> answers) ->
                            new Chat(tally.begin(), (ServerCallStreamObserver<Item>) answers));
        };
    }

    private void feed(Calls.Call call, FeedRequest ask, ServerCallStreamObserver<Item> answers) {
        long receivedNs = System.nanoTime();
        StreamMessages.FeedRequest asked = StreamConversions.convert(ask);
        try {
            Stream.check(asked);
        } catch (ApplicationError error) {
            call.failed();
            call.close();
            answers.onError(Service.status(error));
            return;
        }
        FeedRun run = new FeedRun(model, calls, call, receivedNs, asked, new Reader(answers));
        answers.setOnCancelHandler(run::cancel);
        answers.setOnReadyHandler(run::proceed);
        run.start();
    }

    /** A client whose window says what is sent: the library would store what is written beyond it. */
    private record Reader(ServerCallStreamObserver<Item> answers) implements FeedRun.Reader {
        @Override
        public boolean isReady() {
            return answers.isReady();
        }

        @Override
        public void send(StreamMessages.Item item) {
            answers.onNext(StreamConversions.convert(item));
        }

        @Override
        public void complete() {
            answers.onCompleted();
        }
    }

    /** Takes the items of one client; the library calls it by one thread at a time. */
    private abstract static class Taker implements StreamObserver<Item> {
        final Calls.Call call;
        final Intake intake = new Intake();
        private final StreamObserver<?> answers;
        private boolean over;

        Taker(Calls.Call call, StreamObserver<?> answers) {
            this.call = call;
            this.answers = answers;
        }

        /** The item is in order. */
        abstract void accept(Item item, long receivedNs);

        /** The client has sent its last item. */
        abstract void complete();

        @Override
        public void onNext(Item item) {
            long receivedNs = System.nanoTime();
            if (over) {
                return;
            }
            try {
                intake.add(item.getIndex(), item.getText());
            } catch (ApplicationError error) {
                call.failed();
                end();
                answers.onError(Service.status(error));
                return;
            }
            accept(item, receivedNs);
        }

        @Override
        public void onCompleted() {
            if (end()) {
                complete();
            }
        }

        @Override
        public void onError(Throwable cancelled) {
            end();
        }

        /** Whether it had not ended before. */
        final boolean end() {
            boolean first = !over;
            if (first) {
                over = true;
                call.close();
            }
            return first;
        }
    }

    private static final class Push extends Taker {
        private final StreamObserver<PushReply> answers;

        Push(Calls.Call call, StreamObserver<PushReply> answers) {
            super(call, answers);
            this.answers = answers;
        }

        @Override
        void accept(Item item, long receivedNs) {
            // Only their sum is kept.
        }

        @Override
        void complete() {
            answers.onNext(StreamConversions.convert(intake.reply()));
            answers.onCompleted();
        }
    }

    /** While the client does not read, no further item is asked of it. */
    private final class Chat extends Taker {
        private final ServerCallStreamObserver<Item> answers;
        private boolean asked;

        Chat(Calls.Call call, ServerCallStreamObserver<Item> answers) {
            super(call, answers);
            this.answers = answers;
            answers.disableAutoRequest();
            answers.setOnReadyHandler(this::ask);
            answers.setOnCancelHandler(() -> onError(null));
        }

        private void ask() {
            if (!asked && answers.isReady()) {
                asked = true;
                answers.request(1);
            }
        }

        @Override
        void accept(Item item, long receivedNs) {
            answers.onNext(Item.newBuilder().setIndex(item.getIndex()).setText(item.getText())
                    .setReceivedNs(receivedNs).setSentNs(System.nanoTime()).build());
            calls.streams().addItem(false);
            asked = false;
            ask();
        }

        @Override
        public void onError(Throwable cancelled) {
            if (end()) {
                calls.streams().cancelled();
            }
        }

        @Override
        void complete() {
            answers.onCompleted();
        }
    }
}
