package wirelab.service.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.CodedInputStream;
import io.grpc.internal.ServerImplBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslProvider;
import io.grpc.protobuf.lite.ProtoLiteUtils;
import io.grpc.stub.ServerCalls;
import java.util.List;
import org.junit.jupiter.api.Test;
import wirelab.service.Bench;

/** The rows of the ready line are the libraries that the classes of this module come from. */
class LibrariesTest {
    /** Files that can be read; nothing here opens them. */
    private static final String TLS = "\"tls\":{\"certificate\":\"/proc/version\",\"key\":\"/proc/version\"}";

    @Test
    void serversAndCodecsAreThoseOfGrpcJava() throws Exception {
        assertEquals(
                List.of(
                        "server " + Bench.origin(NettyServerBuilder.class),
                        "server " + Bench.origin(ServerImplBuilder.class),
                        "server " + Bench.origin(ServerCalls.class),
                        "codec " + Bench.origin(ProtoLiteUtils.class),
                        "codec " + Bench.origin(CodedInputStream.class)),
                Bench.libraries("{\"binding\":\"grpc\"}", ""));
    }

    /** The provider is the one that Netty itself would take. */
    @Test
    void tlsIsTheProviderThatNettyTakes() throws Exception {
        List<String> rows = Bench.libraries("{\"binding\":\"grpc\",\"security\":\"tls\"}", TLS);
        String[] jar = Bench.origin(SslContext.class).split(" ");
        String provider = SslContext.defaultServerProvider() == SslProvider.JDK
                ? "tls sun.security.ssl " + Runtime.version()
                : "tls " + jar[0] + " (netty-tcnative) " + jar[1];
        assertEquals(provider, rows.get(rows.size() - 1));
    }
}
