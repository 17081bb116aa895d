package wirelab.service.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.grpc.ServerCallHandler;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import wirelab.service.Calls;
import wirelab.service.contract.ApplicationError;
import wirelab.service.contract.Text;
import wirelab.service.contract.Transfer;
import wirelab.service.protobuf.Digest;
import wirelab.transfer.v1.DownloadChunk;
import wirelab.transfer.v1.DownloadRequest;
import wirelab.transfer.v1.UploadChunk;
import wirelab.transfer.v1.UploadReply;

/** The operations of {@code transfer} that stream. A call ends with its stream. */
final class Streams {
    private Streams() {}

    static ServerCallHandler<?, ?> handler(String operation, Calls.Tally tally) {
        if (operation.equals("UploadStream")) {
            return ServerCalls.asyncClientStreamingCall(
                    (StreamObserver<UploadReply> answers) -> new Upload(tally.begin(), answers));
        }
        return ServerCalls.asyncServerStreamingCall(
                (DownloadRequest ask, StreamObserver<DownloadChunk> answers) ->
                        download(tally.begin(), ask, (ServerCallStreamObserver<DownloadChunk>) answers));
    }

    /** Takes the chunks of one upload; the library calls it by one thread at a time. */
    private static final class Upload implements StreamObserver<UploadChunk> {
        private final Calls.Call call;
        private final StreamObserver<UploadReply> answers;
        private final Digest digest = new Digest();
        private boolean over;

        Upload(Calls.Call call, StreamObserver<UploadReply> answers) {
            this.call = call;
            this.answers = answers;
        }

        @Override
        public void onNext(UploadChunk chunk) {
            if (over) {
                return;
            }
            try {
                digest.add(chunk.getData());
            } catch (ApplicationError error) {
                call.failed();
                end();
                answers.onError(Service.status(error));
            }
        }

        @Override
        public void onError(Throwable cancelled) {
            end();
        }

        @Override
        public void onCompleted() {
            if (!over) {
                end();
                answers.onNext(digest.reply());
                answers.onCompleted();
            }
        }

        private void end() {
            if (!over) {
                over = true;
                call.close();
            }
        }
    }

    private static void download(
            Calls.Call call, DownloadRequest ask, ServerCallStreamObserver<DownloadChunk> answers) {
        try {
            Transfer.checkDownload(ask.getLength(), ask.getChunkBytes());
        } catch (ApplicationError error) {
            call.failed();
            call.close();
            answers.onError(Service.status(error));
            return;
        }
        Download download = new Download(call, ask, answers);
        answers.setOnReadyHandler(download::proceed);
        answers.setOnCancelHandler(download::end);
    }

    /** Sends chunks as long as the transport takes them; then it is called again. */
    private static final class Download {
        private final Calls.Call call;
        private final DownloadRequest ask;
        private final ServerCallStreamObserver<DownloadChunk> answers;
        private long sent;
        private boolean over;

        Download(Calls.Call call, DownloadRequest ask, ServerCallStreamObserver<DownloadChunk> answers) {
            this.call = call;
            this.ask = ask;
            this.answers = answers;
        }

        void proceed() {
            while (!over && answers.isReady() && sent < ask.getLength()) {
                int length = (int) Math.min(ask.getChunkBytes(), ask.getLength() - sent);
                ByteString data = UnsafeByteOperations.unsafeWrap(Text.pattern(sent, length));
                answers.onNext(DownloadChunk.newBuilder().setData(data).build());
                sent += length;
            }
            if (!over && sent == ask.getLength()) {
                end();
                answers.onCompleted();
            }
        }

        void end() {
            if (!over) {
                over = true;
                call.close();
            }
        }
    }
}
