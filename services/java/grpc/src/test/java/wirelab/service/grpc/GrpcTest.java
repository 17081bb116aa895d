package wirelab.service.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import wirelab.charging.v1.ChargingGrpc;
import wirelab.charging.v1.ConfirmActionRequest;
import wirelab.charging.v1.CreditControlRequest;
import wirelab.charging.v1.DebitReservationRequest;
import wirelab.charging.v1.ReserveReply;
import wirelab.charging.v1.ReserveRequest;
import wirelab.records.v1.AllocateRequest;
import wirelab.records.v1.FindAllocationRequest;
import wirelab.records.v1.RecordsGrpc;
import wirelab.records.v1.Team;
import wirelab.service.Address;
import wirelab.service.Bench;
import wirelab.service.contract.Lists;
import wirelab.service.contract.Text;
import wirelab.transfer.v1.DownloadChunk;
import wirelab.transfer.v1.DownloadRequest;
import wirelab.transfer.v1.HelloRequest;
import wirelab.transfer.v1.Record;
import wirelab.transfer.v1.SubmitReply;
import wirelab.transfer.v1.SubmitRequest;
import wirelab.transfer.v1.TransferGrpc;
import wirelab.transfer.v1.UploadChunk;
import wirelab.transfer.v1.UploadReply;

/** gRPC over real connections. */
class GrpcTest {
    @ParameterizedTest
    @ValueSource(strings = {"none", "gzip", "zstd"})
    void unaryCallsErrorsAndGarbage(String compression) throws Exception {
        String stack = "{\"binding\":\"grpc\",\"compression\":\"" + compression + "\"}";
        try (Bench bench = Bench.start("transfer", stack)) {
            ManagedChannel channel = channel(bench);
            TransferGrpc.TransferBlockingStub stub = TransferGrpc.newBlockingStub(channel);
            bench.exchange("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nand then nonsense of some length".getBytes());
            assertEquals("Hello, wirelab", stub.hello(HelloRequest.getDefaultInstance()).getText());
            SubmitReply reply = stub.submit(SubmitRequest.newBuilder().setBatch("ナット 🔩")
                    .addRecords(Record.newBuilder().setId(1).setQuantity(3).setItem("x"))
                    .addRecords(Record.newBuilder().setId(2).setQuantity(3)).build());
            assertEquals("ナット 🔩", reply.getBatch());
            assertEquals(3, reply.getQuantityTotal());
            assertEquals("item must not be empty", reply.getRefused(0).getReason());
            assertRefused("batch must not be empty", () -> stub.submit(SubmitRequest.getDefaultInstance()));
            assertEquals(1, bench.counts("Submit")[1]);
            channel.shutdownNow();
        }
    }

    /** The library's status of a message that cannot be parsed; the call is not counted. */
    @ParameterizedTest
    @ValueSource(strings = {"none", "gzip"})
    void listsEndAtTheirBound(String compression) throws Exception {
        String stack = "{\"binding\":\"grpc\",\"compression\":\"" + compression + "\"}";
        try (Bench bench = Bench.start("transfer", stack)) {
            ManagedChannel channel = channel(bench);
            TransferGrpc.TransferBlockingStub stub = TransferGrpc.newBlockingStub(channel);
            TransferGrpc.TransferBlockingStub sent = compression.equals("none") ? stub : stub.withCompression("gzip");
            SubmitRequest.Builder batch = SubmitRequest.newBuilder().setBatch("b");
            for (int item = 0; item <= Lists.ITEMS_MAX; item++) {
                batch.addRecords(Record.getDefaultInstance());
            }
            assertThrows(StatusRuntimeException.class, () -> sent.submit(batch.build()));
            assertEquals(0, bench.counts("Submit")[0]);
            assertEquals("Hello, wirelab", stub.hello(HelloRequest.getDefaultInstance()).getText());
            channel.shutdownNow();
        }
    }

    @Test
    void streamsEndAsTheContractSays() throws Exception {
        try (Bench bench = Bench.start("transfer", "{\"binding\":\"grpc\"}")) {
            ManagedChannel channel = channel(bench);
            TransferGrpc.TransferBlockingStub stub = TransferGrpc.newBlockingStub(channel);
            Iterator<DownloadChunk> chunks =
                    stub.download(DownloadRequest.newBuilder().setLength(3_000_000).setChunkBytes(65_536).build());
            ByteString all = ByteString.EMPTY;
            while (chunks.hasNext()) {
                all = all.concat(chunks.next().getData());
            }
            assertEquals(ByteString.copyFrom(Text.pattern(0, 3_000_000)), all);
            assertRefused("length must be 0 to 67108864",
                    () -> stub.download(DownloadRequest.newBuilder().setLength(-1).build()).hasNext());
            assertEquals(3_000_000, upload(channel, all, 1).getLength());
            assertThrows(Exception.class, () -> upload(channel, ByteString.copyFrom(new byte[1 << 20]), 65));
            assertEquals(1, bench.counts("UploadStream")[1]);
            channel.shutdownNow();
        }
    }

    private static UploadReply upload(ManagedChannel channel, ByteString chunk, int times) throws Exception {
        CompletableFuture<UploadReply> reply = new CompletableFuture<>();
        StreamObserver<UploadChunk> stream = TransferGrpc.newStub(channel).uploadStream(new StreamObserver<>() {
            @Override
            public void onNext(UploadReply value) {
                reply.complete(value);
            }

            @Override
            public void onError(Throwable error) {
                reply.completeExceptionally(error);
            }

            @Override
            public void onCompleted() {
                // The reply came before.
            }
        });
        for (int at = 0; at < times && !reply.isDone(); at++) {
            stream.onNext(UploadChunk.newBuilder().setData(chunk).build());
        }
        if (!reply.isDone()) {
            stream.onCompleted();
        }
        return reply.get(30, TimeUnit.SECONDS);
    }

    @Test
    void chargingKeepsItsMoney() throws Exception {
        try (Bench bench = Bench.start("charging", "{\"binding\":\"grpc\"}", "\"store\":{\"accounts\":1,\"balance\":100}")) {
            ManagedChannel channel = channel(bench);
            ChargingGrpc.ChargingBlockingStub stub = ChargingGrpc.newBlockingStub(channel);
            ReserveReply made = stub.reserve(ReserveRequest.newBuilder().setId(1).setAm(60).build());
            stub.confirmAction(ConfirmActionRequest.newBuilder().setCn(made.getCn()).build());
            stub.debitReservation(DebitReservationRequest.newBuilder().setId(1).setAm(10).setRes(made.getRes()).build());
            assertEquals(90, stub.creditControl(CreditControlRequest.newBuilder().setId(1).build()).getBalance());
            assertRefused("no such account", () -> stub.creditControl(CreditControlRequest.getDefaultInstance()));
            channel.shutdownNow();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "h2", "hsqldb"})
    void recordsAreStoredUntilTheDatabaseIsGone(String kind) throws Exception {
        String store = "\"store\":{\"kind\":\"" + kind + "\",\"pool\":2}";
        try (Bench bench = Bench.start("records", "{\"binding\":\"grpc\"}", store)) {
            ManagedChannel channel = channel(bench);
            RecordsGrpc.RecordsBlockingStub stub = RecordsGrpc.newBlockingStub(channel);
            Team team = stub.allocate(AllocateRequest.newBuilder()
                    .setName("Alice").setId(113_517).setCourseCode("CS31245").build()).getTeamDetails();
            assertEquals(879_253, team.getGroupId());
            FindAllocationRequest find = FindAllocationRequest.newBuilder().setGroupId(team.getGroupId()).build();
            assertEquals(team, stub.findAllocation(find).getTeamDetails());
            assertRefused("no such group", () -> stub.findAllocation(FindAllocationRequest.getDefaultInstance()));
            if (kind.equals("h2")) {
                try (Connection other = DriverManager.getConnection("jdbc:h2:mem:wirelab")) {
                    other.createStatement().execute("DROP TABLE allocations");
                }
                Status status = assertThrows(StatusRuntimeException.class, () -> stub.findAllocation(find)).getStatus();
                assertEquals(Status.Code.UNAVAILABLE, status.getCode());
                assertEquals("database unavailable", status.getDescription());
            }
            channel.shutdownNow();
        }
    }

    private static ManagedChannel channel(Bench bench) {
        return NettyChannelBuilder.forAddress(Address.internet(bench.running().address())).usePlaintext().build();
    }

    private static void assertRefused(String text, org.junit.jupiter.api.function.Executable call) {
        Status status = assertThrows(StatusRuntimeException.class, call).getStatus();
        assertEquals(Status.Code.INVALID_ARGUMENT, status.getCode());
        assertEquals(text, status.getDescription());
    }
}
