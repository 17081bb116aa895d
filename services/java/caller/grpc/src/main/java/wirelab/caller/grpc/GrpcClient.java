package wirelab.caller.grpc;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientStreamTracer;
import io.grpc.ClientTransportFilter;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.util.concurrent.TimeUnit;
import wirelab.caller.Client;
import wirelab.caller.Connections;
import wirelab.caller.Stamps;
import wirelab.caller.Target;
import wirelab.transfer.v1.HelloRequest;
import wirelab.transfer.v1.TransferGrpc;

/** The stub of one user, with a channel of its own, so that users do not share a connection. */
final class GrpcClient implements Client {
    /** Above every reply; grpc-java's own limit is 4 MiB. */
    private static final int REPLY_BYTES_MAX = 1 << 30;

    private final Target target;
    private final Connections connections;
    private ManagedChannel channel;
    private TransferGrpc.TransferBlockingStub stub;
    private volatile Stamps at;

    GrpcClient(Target target, Connections connections) {
        this.target = target;
        this.connections = connections;
        open();
    }

    private void open() {
        // As an address of grpc-java's: names are looked up by the lab, if at all.
        channel = NettyChannelBuilder.forTarget(target.address())
                .usePlaintext()
                .disableRetry()
                .maxInboundMessageSize(REPLY_BYTES_MAX)
                .proxyDetector(address -> null)
                .addTransportFilter(new Counting())
                .intercept(new Stamping())
                .build();
        stub = TransferGrpc.newBlockingStub(channel);
    }

    @Override
    public void call(Stamps stamps) throws Exception {
        at = stamps;
        if (channel == null) {
            open();
        }
        try {
            TransferGrpc.TransferBlockingStub within =
                    stub.withDeadlineAfter(target.timeout().toNanos(), TimeUnit.NANOSECONDS);
            if (target.isBytes()) {
                target.compare(within.helloBytes(HelloRequest.getDefaultInstance()).getText().toByteArray());
            } else {
                target.compare(within.hello(HelloRequest.getDefaultInstance()).getText());
            }
        } finally {
            if (target.closes()) {
                close();
            }
        }
    }

    @Override
    public void close() {
        if (channel != null) {
            channel.shutdown();
            channel = null;
        }
    }

    /** Stamps the call that is under way. */
    private final class Stamping implements ClientInterceptor {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            Stamps of = at;
            return next.newCall(method, options.withStreamTracerFactory(new ClientStreamTracer.Factory() {
                @Override
                public ClientStreamTracer newClientStreamTracer(
                        ClientStreamTracer.StreamInfo info, Metadata headers) {
                    return new Tracer(of);
                }
            }));
        }
    }

    private static final class Tracer extends ClientStreamTracer {
        private final Stamps at;

        Tracer(Stamps at) {
            this.at = at;
        }

        @Override
        public void streamCreated(Attributes transport, Metadata headers) {
            at.sent();
        }

        @Override
        public void outboundHeaders() {
            at.flushed();
        }

        @Override
        public void inboundHeaders() {
            at.firstByte();
        }
    }

    private final class Counting extends ClientTransportFilter {
        @Override
        public Attributes transportReady(Attributes transport) {
            connections.opened();
            return transport;
        }

        @Override
        public void transportTerminated(Attributes transport) {
            connections.closed();
        }
    }
}
