package wirelab.caller.grpc;

import com.google.protobuf.ByteString;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import wirelab.caller.Chunks;
import wirelab.caller.protobuf.Messages;
import wirelab.service.contract.message.TransferMessages;
import wirelab.transfer.v1.DownloadChunk;
import wirelab.transfer.v1.DownloadRequest;
import wirelab.transfer.v1.TransferGrpc;
import wirelab.transfer.v1.TransferGrpc.TransferBlockingStub;
import wirelab.transfer.v1.UploadChunk;
import wirelab.transfer.v1.UploadReply;

/** UploadStream and Download. */
final class ChunkStreams {
    private ChunkStreams() {}

    /** grpc-java has streams of requests in its asynchronous stub alone, which has the deadline of the other. */
    static TransferMessages.UploadReply upload(TransferBlockingStub stub, Chunks chunks) throws Exception {
        CompletableFuture<UploadReply> reply = new CompletableFuture<>();
        TransferGrpc.newStub(stub.getChannel())
                .withDeadline(stub.getCallOptions().getDeadline())
                .uploadStream(new Sending(chunks, reply));
        try {
            return Messages.readUploadReply(reply.get());
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof Exception cause ? cause : failed;
        }
    }

    /** Sends chunks as long as the library has room for them. */
    private static final class Sending implements ClientResponseObserver<UploadChunk, UploadReply> {
        private final Chunks chunks;
        private final CompletableFuture<UploadReply> reply;
        private int sent;
        private boolean isComplete;

        Sending(Chunks chunks, CompletableFuture<UploadReply> reply) {
            this.chunks = chunks;
            this.reply = reply;
        }

        @Override
        public void beforeStart(ClientCallStreamObserver<UploadChunk> requests) {
            requests.setOnReadyHandler(() -> send(requests));
        }

        private void send(ClientCallStreamObserver<UploadChunk> requests) {
            while (requests.isReady() && sent < chunks.count()) {
                requests.onNext(UploadChunk.newBuilder().setData(ByteString.copyFrom(chunks.get(sent++))).build());
            }
            if (sent == chunks.count() && !isComplete) {
                isComplete = true;
                requests.onCompleted();
            }
        }

        @Override
        public void onNext(UploadReply message) {
            reply.complete(message);
        }

        @Override
        public void onError(Throwable error) {
            reply.completeExceptionally(error);
        }

        @Override
        public void onCompleted() {
            // Of a reply that came before this is of no effect.
            reply.completeExceptionally(Status.INTERNAL.withDescription("there is no reply").asRuntimeException());
        }
    }

    /** Checks each chunk when it has come, and cancels the rest of a wrong stream. */
    static Chunks download(TransferBlockingStub stub, Chunks chunks) throws Exception {
        Context.CancellableContext context = Context.current().withCancellation();
        try {
            return context.call(() -> receive(stub, chunks));
        } finally {
            context.cancel(null);
        }
    }

    private static Chunks receive(TransferBlockingStub stub, Chunks chunks) throws Exception {
        Iterator<DownloadChunk> received = stub.download(DownloadRequest.newBuilder()
                .setLength(chunks.data().length).setChunkBytes(chunks.size()).build());
        int at = 0;
        while (received.hasNext()) {
            chunks.check(at++, received.next().getData().toByteArray());
        }
        chunks.checkEnd(at);
        return chunks;
    }
}
