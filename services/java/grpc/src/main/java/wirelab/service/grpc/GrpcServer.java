package wirelab.service.grpc;

import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import wirelab.calendar.v1.CalendarGrpc;
import wirelab.calendar.v1.EntriesRequest;
import wirelab.charging.v1.ChargingGrpc;
import wirelab.charging.v1.CreditControlRequest;
import wirelab.petclinic.v1.ListPetTypesRequest;
import wirelab.petclinic.v1.PetclinicGrpc;
import wirelab.records.v1.CountAllocationsRequest;
import wirelab.records.v1.RecordsGrpc;
import wirelab.service.Binding;
import wirelab.service.Configuration;
import wirelab.service.contract.Model;
import wirelab.stream.v1.FeedRequest;
import wirelab.stream.v1.StreamGrpc;
import wirelab.transfer.v1.HelloRequest;
import wirelab.transfer.v1.TransferGrpc;

/** A running gRPC server. */
final class GrpcServer implements Binding.Running {
    /** NettyServerBuilder.DEFAULT_FLOW_CONTROL_WINDOW; it then follows the bandwidth-delay product. */
    private static final int LIBRARY_WINDOW_BYTES = 1 << 20;

    private final Configuration configuration;
    private final Server server;
    private final EventLoopGroup loops;
    private final ExecutorService workers;
    private final Model model;

    GrpcServer(
            Configuration configuration, Server server, EventLoopGroup loops, ExecutorService workers, Model model) {
        this.configuration = configuration;
        this.server = server;
        this.loops = loops;
        this.workers = workers;
        this.model = model;
    }

    @Override
    public String address() {
        return GrpcBinding.address(configuration, server);
    }

    @Override
    public Map<String, Object> set() {
        Configuration.Socket socket = configuration.socket();
        Map<String, Object> set = new LinkedHashMap<>();
        set.put("nagle", socket.nagle());
        set.put("h2_window", socket.h2Window() == null ? LIBRARY_WINDOW_BYTES : socket.h2Window());
        set.put("h2_window_dynamic", socket.h2Window() == null);
        return set;
    }

    @Override
    public void callSelf() throws IOException {
        ManagedChannel channel = SelfChannel.open(configuration, address(), loops);
        try {
            ask(channel);
        } catch (StatusRuntimeException error) {
            boolean application = error.getStatus().getCode() == Status.Code.INVALID_ARGUMENT;
            // With mtls the service does not trust itself unless its certificate is a client's too.
            if (!application && !configuration.stack().security().equals("mtls")) {
                throw new IOException("the service could not call itself: " + error.getMessage(), error);
            }
        } finally {
            channel.shutdownNow();
        }
    }

    private void ask(Channel channel) {
        switch (model.contract()) {
            case "transfer" -> call(channel, TransferGrpc.getHelloMethod(), HelloRequest.getDefaultInstance());
            case "charging" -> call(channel, ChargingGrpc.getCreditControlMethod(),
                    CreditControlRequest.newBuilder().setId(1).build());
            case "records" -> call(channel, RecordsGrpc.getCountAllocationsMethod(),
                    CountAllocationsRequest.getDefaultInstance());
            case "stream" -> feed(channel);
            case "petclinic" -> call(channel, PetclinicGrpc.getListPetTypesMethod(),
                    ListPetTypesRequest.getDefaultInstance());
            default -> call(channel, CalendarGrpc.getEntriesMethod(),
                    EntriesRequest.newBuilder().setOwner("self").setDay(1).build());
        }
    }

    private void feed(Channel channel) {
        FeedRequest ask = FeedRequest.newBuilder().setCount(1).setPattern("constant").build();
        ClientCalls.blockingServerStreamingCall(channel, StreamGrpc.getFeedMethod(), patience(), ask).next();
    }

    private <Q extends Message, R extends Message> R call(Channel channel, MethodDescriptor<Q, R> method, Q ask) {
        return ClientCalls.blockingUnaryCall(channel, method, patience(), ask);
    }

    private CallOptions patience() {
        return CallOptions.DEFAULT
                .withDeadlineAfter(20_000 + configuration.delayUs() / 1000, TimeUnit.MILLISECONDS)
                .withMaxInboundMessageSize(GrpcBinding.MESSAGE_BYTES_MAX);
    }

    @Override
    public void stop(long graceMs) {
        server.shutdown();
        try {
            if (!server.awaitTermination(graceMs, TimeUnit.MILLISECONDS)) {
                server.shutdownNow();
            }
        } catch (InterruptedException hurry) {
            server.shutdownNow();
        }
        workers.shutdownNow();
        loops.shutdownGracefully(0, graceMs, TimeUnit.MILLISECONDS);
    }
}
