package wirelab.service.grpc;

import com.google.protobuf.Message;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import wirelab.calendar.v1.CalendarGrpc;
import wirelab.charging.v1.ChargingGrpc;
import wirelab.petclinic.v1.PetclinicGrpc;
import wirelab.records.v1.RecordsGrpc;
import wirelab.service.Calls;
import wirelab.service.contract.ApplicationError;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Model;
import wirelab.service.contract.StoreUnavailable;
import wirelab.service.contract.Stream;
import wirelab.stream.v1.StreamGrpc;
import wirelab.transfer.v1.TransferGrpc;

/** A contract as gRPC methods: one handler for all unary operations, {@link Streams} for the others. */
final class Service {
    private final Model model;
    private final Calls calls;
    private final Map<String, Exchange<? extends Message, ? extends Message>> exchanges;

    Service(Model model, List<Exchange<? extends Message, ? extends Message>> served, Calls calls) {
        this.model = model;
        this.calls = calls;
        exchanges = served.stream()
                .collect(Collectors.toMap(Exchange::operation, Function.identity()));
    }

    ServerServiceDefinition definition() {
        ServiceDescriptor service = descriptor(model);
        // By its name: the generated descriptor knows its own methods only.
        ServerServiceDefinition.Builder definition = ServerServiceDefinition.builder(service.getName());
        for (MethodDescriptor<?, ?> method : service.getMethods()) {
            add(definition, CountingMarshaller.count(method));
        }
        return definition.build();
    }

    static ServiceDescriptor descriptor(Model model) {
        return switch (model.contract()) {
            case "transfer" -> TransferGrpc.getServiceDescriptor();
            case "charging" -> ChargingGrpc.getServiceDescriptor();
            case "records" -> RecordsGrpc.getServiceDescriptor();
            case "stream" -> StreamGrpc.getServiceDescriptor();
            case "petclinic" -> PetclinicGrpc.getServiceDescriptor();
            default -> CalendarGrpc.getServiceDescriptor();
        };
    }

    @SuppressWarnings("unchecked") // the descriptor's classes are those of the handler of that name
    private <Q, R> void add(ServerServiceDefinition.Builder definition, MethodDescriptor<Q, R> method) {
        String operation = method.getBareMethodName();
        ServerCallHandler<?, ?> handler = exchanges.containsKey(operation)
                ? unary(exchanges.get(operation))
                : streamHandler(operation);
        definition.addMethod(method, (ServerCallHandler<Q, R>) handler);
    }

    private ServerCallHandler<?, ?> streamHandler(String operation) {
        return model instanceof Stream stream
                ? new ItemStreams(stream, calls).handler(operation)
                : Streams.handler(operation, calls.tally(operation));
    }

    private <Q extends Message, R extends Message> ServerCallHandler<Q, R> unary(Exchange<Q, R> exchange) {
        Calls.Tally tally = calls.tally(exchange.operation());
        return ServerCalls.asyncUnaryCall((Q ask, StreamObserver<R> answers) -> {
            R reply;
            try (Calls.Call call = tally.begin()) {
                reply = exchange.answer(call, ask);
            } catch (StoreUnavailable error) {
                answers.onError(Status.UNAVAILABLE.withDescription(error.getMessage()).asException());
                return;
            } catch (ApplicationError error) {
                answers.onError(status(error));
                return;
            }
            answers.onNext(reply);
            answers.onCompleted();
        });
    }

    static StatusException status(ApplicationError error) {
        Status status = error.isNotFound() ? Status.NOT_FOUND : Status.INVALID_ARGUMENT;
        return status.withDescription(error.getMessage()).asException();
    }
}
