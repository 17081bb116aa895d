package wirelab.caller.grpc;

import com.google.protobuf.CodedInputStream;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import java.util.List;
import java.util.Map;
import java.util.Set;
import wirelab.caller.Client;
import wirelab.caller.Connections;
import wirelab.caller.Failure;
import wirelab.caller.Library;
import wirelab.caller.Target;

/** The stubs of grpc-java over Netty. */
public final class GrpcLibrary implements Library {
    @Override
    public Map<String, Set<String>> able() {
        return Map.of(
                "binding", Set.of("grpc"), "codec", Set.of("protobuf"), "transport", Set.of("http/2"),
                "connection", Set.of("keep", "close"));
    }

    @Override
    public Map<String, String> stamps() {
        return Map.of(
                "intended", "schedule",
                "sent", "ClientStreamTracer.streamCreated",
                "flushed", "ClientStreamTracer.outboundHeaders",
                "first_byte", "ClientStreamTracer.inboundHeaders",
                "done", "the stub returned");
    }

    @Override
    public List<Class<?>> classes(Target target) {
        return List.of(
                NettyChannelBuilder.class, ManagedChannel.class, ClientCalls.class, CodedInputStream.class);
    }

    @Override
    public Client client(Target target, Connections connections) {
        connections.report();
        return new GrpcClient(target, connections);
    }

    /** A status that grpc-java makes itself has the network's failure as its cause. */
    @Override
    public Failure failure(Throwable error) {
        Status status = Status.fromThrowable(error);
        return switch (status.getCode()) {
            case DEADLINE_EXCEEDED -> Failure.timeout(status.toString());
            case UNAVAILABLE -> {
                if (status.getCause() != null) {
                    yield Failure.ofNetwork(status.getCause());
                }
                boolean isOwn = String.valueOf(status.getDescription()).contains("closed");
                yield isOwn ? Failure.closed(status.toString()) : Failure.application(status.toString());
            }
            case INTERNAL -> Failure.protocol(status.toString());
            case UNKNOWN -> null;
            default -> Failure.application(status.toString());
        };
    }
}
