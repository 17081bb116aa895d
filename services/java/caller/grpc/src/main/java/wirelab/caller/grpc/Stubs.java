package wirelab.caller.grpc;

import static wirelab.caller.protobuf.Messages.ALLOCATE;
import static wirelab.caller.protobuf.Messages.BOOK;
import static wirelab.caller.protobuf.Messages.CONFIRM_ACTION;
import static wirelab.caller.protobuf.Messages.COUNT_ALLOCATIONS;
import static wirelab.caller.protobuf.Messages.CREDIT;
import static wirelab.caller.protobuf.Messages.CREDIT_CONTROL;
import static wirelab.caller.protobuf.Messages.DEBIT_RESERVATION;
import static wirelab.caller.protobuf.Messages.DEPLOY;
import static wirelab.caller.protobuf.Messages.DIRECT_DEBIT;
import static wirelab.caller.protobuf.Messages.ENTRIES;
import static wirelab.caller.protobuf.Messages.FIND_ALLOCATION;
import static wirelab.caller.protobuf.Messages.HELLO;
import static wirelab.caller.protobuf.Messages.HELLO_BYTES;
import static wirelab.caller.protobuf.Messages.RELEASE_RES;
import static wirelab.caller.protobuf.Messages.RESERVE;
import static wirelab.caller.protobuf.Messages.SUBMIT;
import static wirelab.caller.protobuf.Messages.UPLOAD;

import com.google.protobuf.Message;
import io.grpc.Channel;
import io.grpc.stub.AbstractBlockingStub;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import wirelab.calendar.v1.CalendarGrpc;
import wirelab.calendar.v1.CalendarGrpc.CalendarBlockingStub;
import wirelab.caller.Call;
import wirelab.caller.Chunks;
import wirelab.caller.Methods;
import wirelab.caller.Stamps;
import wirelab.caller.protobuf.Messages.Form;
import wirelab.charging.v1.ChargingGrpc;
import wirelab.charging.v1.ChargingGrpc.ChargingBlockingStub;
import wirelab.records.v1.RecordsGrpc;
import wirelab.records.v1.RecordsGrpc.RecordsBlockingStub;
import wirelab.transfer.v1.TransferGrpc;
import wirelab.transfer.v1.TransferGrpc.TransferBlockingStub;

/** The stub of a contract, which protoc generated, with its operations. */
record Stubs<S extends AbstractBlockingStub<S>>(Function<Channel, S> stub, Methods<S> methods) {
    /** Of a contract of the plan. */
    static Stubs<?> of(String contract) {
        return switch (contract) {
            case "transfer" -> new Stubs<>(TransferGrpc::newBlockingStub, transfer());
            case "charging" -> new Stubs<>(ChargingGrpc::newBlockingStub, charging());
            case "calendar" -> new Stubs<>(CalendarGrpc::newBlockingStub, calendar());
            default -> new Stubs<>(RecordsGrpc::newBlockingStub, records());
        };
    }

    Object call(Channel channel, Duration timeout, Call call, Stamps at) throws Exception {
        S within = stub.apply(channel).withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS);
        return methods.call(within, call, at);
    }

    /** Calls are stamped by their channel. */
    private static <S> Methods<S> none() {
        return new Methods<>(at -> {});
    }

    private static <S, C, Q extends Message, A extends Message> void add(
            Methods<S> methods, String operation, Form<C, Q, A> form, Methods.Invocation<S, Q, A> invocation) {
        methods.with(operation, form.message(), form.request(), invocation, form.reply());
    }

    private static Methods<TransferBlockingStub> transfer() {
        Methods<TransferBlockingStub> methods = none();
        add(methods, "Hello", HELLO, TransferBlockingStub::hello);
        add(methods, "HelloBytes", HELLO_BYTES, TransferBlockingStub::helloBytes);
        add(methods, "Submit", SUBMIT, TransferBlockingStub::submit);
        add(methods, "Upload", UPLOAD, TransferBlockingStub::upload);
        methods.with("UploadStream", Chunks.class, ChunkStreams::upload, reply -> reply);
        return methods.with("Download", Chunks.class, ChunkStreams::download, chunks -> chunks);
    }

    private static Methods<ChargingBlockingStub> charging() {
        Methods<ChargingBlockingStub> methods = none();
        add(methods, "Credit", CREDIT, ChargingBlockingStub::credit);
        add(methods, "DirectDebit", DIRECT_DEBIT, ChargingBlockingStub::directDebit);
        add(methods, "Reserve", RESERVE, ChargingBlockingStub::reserve);
        add(methods, "DebitReservation", DEBIT_RESERVATION, ChargingBlockingStub::debitReservation);
        add(methods, "ReleaseRes", RELEASE_RES, ChargingBlockingStub::releaseRes);
        add(methods, "CreditControl", CREDIT_CONTROL, ChargingBlockingStub::creditControl);
        add(methods, "ConfirmAction", CONFIRM_ACTION, ChargingBlockingStub::confirmAction);
        return methods;
    }

    private static Methods<CalendarBlockingStub> calendar() {
        Methods<CalendarBlockingStub> methods = none();
        add(methods, "Deploy", DEPLOY, CalendarBlockingStub::deploy);
        add(methods, "Book", BOOK, CalendarBlockingStub::book);
        add(methods, "Entries", ENTRIES, CalendarBlockingStub::entries);
        return methods;
    }

    private static Methods<RecordsBlockingStub> records() {
        Methods<RecordsBlockingStub> methods = none();
        add(methods, "Allocate", ALLOCATE, RecordsBlockingStub::allocate);
        add(methods, "FindAllocation", FIND_ALLOCATION, RecordsBlockingStub::findAllocation);
        add(methods, "CountAllocations", COUNT_ALLOCATIONS, RecordsBlockingStub::countAllocations);
        return methods;
    }
}
