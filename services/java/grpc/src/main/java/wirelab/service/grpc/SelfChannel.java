package wirelab.service.grpc;

import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import java.io.File;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketAddress;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import wirelab.service.Address;
import wirelab.service.Configuration;

/** The client by which the service calls itself once. */
final class SelfChannel {
    private SelfChannel() {}

    static ManagedChannel open(Configuration configuration, String address, EventLoopGroup loops)
            throws IOException {
        boolean unix = Address.isUnix(address);
        SocketAddress target = unix
                ? new DomainSocketAddress(Address.path(address))
                : Address.internet(address);
        return NettyChannelBuilder.forAddress(target, credentials(configuration))
                .channelType(unix ? EpollDomainSocketChannel.class : EpollSocketChannel.class)
                .eventLoopGroup(loops)
                .overrideAuthority("localhost")
                .directExecutor()
                .build();
    }

    private static ChannelCredentials credentials(Configuration configuration) throws IOException {
        if (configuration.stack().security().equals("none")) {
            return InsecureChannelCredentials.create();
        }
        return TlsChannelCredentials.newBuilder()
                .trustManager((TrustManager) new Anyone())
                .keyManager(new File(configuration.tls().certificate()), new File(configuration.tls().key()))
                .build();
    }

    /** The peer is this process: there is nothing to verify. */
    private static final class Anyone extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind, SSLEngine engine) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
