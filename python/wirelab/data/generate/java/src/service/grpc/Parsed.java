package service.grpc;

import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.InputStream;

/**
 * A request, or why its bytes are not one. grpc-java answers UNKNOWN where a marshaller throws; here it is
 * the caller's fault, INVALID_ARGUMENT. One of the two is null.
 */
record Parsed<M>(M message, StatusRuntimeException error) {
    /** The method with requests of this kind. */
    static <Q, R> MethodDescriptor<Parsed<Q>, R> describe(MethodDescriptor<Q, R> method) {
        return method.toBuilder(new Marshaller<>(method.getRequestMarshaller()), method.getResponseMarshaller())
                .build();
    }

    private record Marshaller<M>(MethodDescriptor.Marshaller<M> library)
            implements MethodDescriptor.Marshaller<Parsed<M>> {
        @Override
        public InputStream stream(Parsed<M> request) {
            return library.stream(request.message());
        }

        @Override
        public Parsed<M> parse(InputStream stream) {
            try {
                return new Parsed<>(library.parse(stream), null);
            } catch (StatusRuntimeException error) {
                if (error.getStatus().getCode() != Status.Code.INTERNAL) {
                    throw error;
                }
                String reason = error.getStatus().getDescription();
                return new Parsed<>(null, Status.INVALID_ARGUMENT.withDescription(reason).asRuntimeException());
            }
        }
    }
}
