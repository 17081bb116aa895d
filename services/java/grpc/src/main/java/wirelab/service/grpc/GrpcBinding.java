package wirelab.service.grpc;

import com.google.protobuf.Message;
import io.grpc.Server;
import io.grpc.ServerCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.logging.Level;
import java.util.logging.Logger;
import wirelab.service.Address;
import wirelab.service.Binding;
import wirelab.service.Calls;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Model;
import wirelab.service.protobuf.ProtobufExchanges;

/** gRPC on grpc-java over Netty. */
public final class GrpcBinding implements Binding {
    /** Warns at every connection over a Unix socket, which has no SO_KEEPALIVE. */
    private static final Logger BOOTSTRAP = Logger.getLogger("io.grpc.netty.shaded.io.netty.bootstrap");

    static final int MESSAGE_BYTES_MAX = 128 << 20;

    /** The event loops are those of Netty 4.1; 4.2 makes them by MultiThreadIoEventLoopGroup. */
    @SuppressWarnings("deprecation")
    @Override
    public Running start(Configuration configuration, Model model, Calls calls) throws Refusal, IOException {
        BOOTSTRAP.setLevel(Level.SEVERE);
        // As many loops as processors; the calls themselves run on the library's default kind of pool.
        EventLoopGroup loops = new EpollEventLoopGroup(Runtime.getRuntime().availableProcessors());
        ExecutorService workers = Executors.newCachedThreadPool();
        NettyServerBuilder builder = builder(configuration)
                .bossEventLoopGroup(loops)
                .workerEventLoopGroup(loops)
                .executor(workers)
                .maxInboundMessageSize(MESSAGE_BYTES_MAX)
                .addTransportFilter(new AcceptedSockets(calls))
                .addService(new Service(model, exchanges(configuration, model), calls).definition());
        options(configuration, builder);
        Compression.configure(configuration.stack().compression(), builder);
        try {
            Server server = builder.build().start();
            return new GrpcServer(configuration, server, loops, workers, model);
        } catch (IOException taken) {
            loops.shutdownGracefully();
            throw new Refusal("listen", configuration.listen() + ": " + reason(taken),
                    "use port 0, or a free port or path");
        }
    }

    private static List<Exchange<? extends Message, ? extends Message>> exchanges(
            Configuration configuration, Model model) throws Refusal {
        ContractModule module = ContractModule.loadInstalled();
        return module == null ? ProtobufExchanges.of(model) : module.open(configuration, model);
    }

    @Override
    public List<String> serverWorkers(Configuration configuration) {
        ContractModule module = ContractModule.loadInstalled();
        return module == null ? List.of() : module.serverWorkers(configuration);
    }

    @Override
    public List<String> storeWorkers(Configuration configuration) {
        ContractModule module = ContractModule.loadInstalled();
        return module == null ? List.of() : module.storeWorkers(configuration);
    }

    private static String reason(Throwable error) {
        return error.getCause() == null ? String.valueOf(error.getMessage()) : reason(error.getCause());
    }

    private static NettyServerBuilder builder(Configuration configuration) throws Refusal {
        boolean unix = Address.isUnix(configuration.listen());
        SocketAddress address = unix
                ? new DomainSocketAddress(Address.path(configuration.listen()))
                : Address.internet(configuration.listen());
        return NettyServerBuilder.forAddress(address, credentials(configuration))
                .channelType(unix ? EpollServerDomainSocketChannel.class : EpollServerSocketChannel.class);
    }

    private static ServerCredentials credentials(Configuration configuration) throws Refusal {
        String security = configuration.stack().security();
        if (security.equals("none")) {
            return InsecureServerCredentials.create();
        }
        Configuration.Tls tls = configuration.tls();
        try {
            TlsServerCredentials.Builder files = TlsServerCredentials.newBuilder()
                    .keyManager(new File(tls.certificate()), new File(tls.key()));
            if (security.equals("mtls")) {
                files.trustManager(new File(tls.clientCa())).clientAuth(TlsServerCredentials.ClientAuth.REQUIRE);
            }
            return files.build();
        } catch (IOException | IllegalArgumentException error) {
            throw new Refusal("tls", "the files are not what they should be: " + reason(error),
                    "give PEM files: a certificate (chain), its private key in PKCS#8, a client CA");
        }
    }

    private static void options(Configuration configuration, NettyServerBuilder builder) {
        Configuration.Socket socket = configuration.socket();
        if (!Address.isUnix(configuration.listen())) {
            builder.withChildOption(ChannelOption.TCP_NODELAY, !socket.nagle());
            if (socket.tcpWindow() != null) {
                // On the listener too: the window scale of the handshake follows from it.
                builder.withOption(ChannelOption.SO_RCVBUF, socket.tcpWindow());
                builder.withChildOption(ChannelOption.SO_RCVBUF, socket.tcpWindow());
            }
        }
        if (socket.h2Window() != null) {
            builder.flowControlWindow(socket.h2Window());
        }
    }

    /** The address that a listener has in the process contract's spelling. */
    static String address(Configuration configuration, Server server) {
        return server.getListenSockets().get(0) instanceof InetSocketAddress internet
                ? Address.withPort(configuration.listen(), internet.getPort())
                : configuration.listen();
    }
}
