package service.grpc;

import com.github.luben.zstd.ZstdInputStream;
import com.github.luben.zstd.ZstdOutputStream;
import io.grpc.Codec;
import io.grpc.CompressorRegistry;
import io.grpc.Decompressor;
import io.grpc.DecompressorRegistry;
import io.grpc.Metadata;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;

/** Compression of gRPC messages: replies are compressed where the request allows it. */
final class Compression {
    private static final Metadata.Key<String> ACCEPTED =
            Metadata.Key.of("grpc-accept-encoding", Metadata.ASCII_STRING_MARSHALLER);

    private Compression() {}

    /** By default the library itself reads gzip; here only what was configured is read and written. */
    static void configure(String name, ServerBuilder<?> server) {
        CompressorRegistry writers = CompressorRegistry.newEmptyInstance();
        writers.register(Codec.Identity.NONE);
        DecompressorRegistry readers = DecompressorRegistry.emptyInstance().with(Codec.Identity.NONE, false);
        if (!name.equals("none")) {
            Codec codec = name.equals("gzip") ? new Codec.Gzip() : new Zstd();
            writers.register(codec);
            readers = readers.with((Decompressor) codec, true);
            server.intercept(new WhereAccepted(name));
        }
        server.compressorRegistry(writers).decompressorRegistry(readers);
    }

    private record WhereAccepted(String name) implements ServerInterceptor {
        @Override
        public <Q, R> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
            String accepted = headers.get(ACCEPTED);
            if (accepted != null && Arrays.stream(accepted.split(",")).map(String::trim).anyMatch(name::equals)) {
                call.setCompression(name);
            }
            return next.startCall(call, headers);
        }
    }

    /** RFC 8878, with the library's default level. */
    private static final class Zstd implements Codec {
        @Override
        public String getMessageEncoding() {
            return "zstd";
        }

        @Override
        public OutputStream compress(OutputStream to) throws IOException {
            return new ZstdOutputStream(to);
        }

        @Override
        public InputStream decompress(InputStream from) throws IOException {
            return new ZstdInputStream(from);
        }
    }
}
