package service.grpc;

import com.google.protobuf.Message;
import io.grpc.InsecureServerCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerSocketChannel;
import java.io.IOException;
import java.util.concurrent.Executors;
import service.Answers;
import service.Options;

/** gRPC on grpc-java over Netty. */
public final class GrpcServer {
    private static final int MESSAGE_BYTES_MAX = 128 << 20;

    private GrpcServer() {}

    /** Listens, and answers from then on. */
    @SuppressWarnings("deprecation") // the event loops are those of Netty 4.1
    public static void start(Options options, Answers<? extends Message, ? extends Message> answers)
            throws IOException {
        // As many loops as processors; the calls themselves run on the library's default kind of pool.
        EventLoopGroup loops = new EpollEventLoopGroup(Runtime.getRuntime().availableProcessors());
        NettyServerBuilder builder = NettyServerBuilder.forAddress(
                        options.address(), InsecureServerCredentials.create())
                .channelType(EpollServerSocketChannel.class)
                .bossEventLoopGroup(loops)
                .workerEventLoopGroup(loops)
                .executor(Executors.newCachedThreadPool())
                .withChildOption(ChannelOption.TCP_NODELAY, true)
                .maxInboundMessageSize(MESSAGE_BYTES_MAX)
                .addService(GrpcService.define(answers));
        Compression.configure(options.compression(), builder);
        builder.build().start();
    }
}
