package wirelab.caller.iiop;

import java.util.Arrays;
import java.util.function.Function;
import wirelab.calendar_v1.Calendar;
import wirelab.calendar_v1.CalendarHelper;
import wirelab.caller.Call;
import wirelab.caller.Methods;
import wirelab.caller.Stamps;
import wirelab.charging_v1.Charging;
import wirelab.charging_v1.ChargingHelper;
import wirelab.records_v1.Records;
import wirelab.records_v1.RecordsHelper;
import wirelab.records_v1.Team;
import wirelab.service.contract.message.CalendarMessages;
import wirelab.service.contract.message.ChargingMessages;
import wirelab.service.contract.message.RecordsMessages;
import wirelab.service.contract.message.TransferMessages;
import wirelab.transfer_v1.Record;
import wirelab.transfer_v1.SubmitReply;
import wirelab.transfer_v1.Transfer;
import wirelab.transfer_v1.TransferHelper;

/**
 * An interface that JacORB's IDL compiler made of the contract's IDL, with its operations and what makes its
 * stubs. They are unchecked: JacORB would ask the service for its type, where the reference does not say it.
 */
record IdlStubs<S>(Function<org.omg.CORBA.Object, S> narrow, Methods<S> methods) {
    /** Of a contract of the plan. */
    static IdlStubs<?> of(String contract) {
        return switch (contract) {
            case "transfer" -> new IdlStubs<>(TransferHelper::unchecked_narrow, transfer());
            case "charging" -> new IdlStubs<>(ChargingHelper::unchecked_narrow, charging());
            case "calendar" -> new IdlStubs<>(CalendarHelper::unchecked_narrow, calendar());
            default -> new IdlStubs<>(RecordsHelper::unchecked_narrow, records());
        };
    }

    /** A stub with its operations. */
    interface Bound {
        Object call(Call call, Stamps at) throws Exception;
    }

    Bound bind(org.omg.CORBA.Object reference) {
        S stub = narrow.apply(reference);
        return (call, at) -> methods.call(stub, call, at);
    }

    private static Methods<Transfer> transfer() {
        return new Methods<Transfer>(Stamps::sent)
                .with("Hello", TransferMessages.HelloRequest.class, (stub, ask) -> stub.hello(),
                        reply -> new TransferMessages.HelloReply(reply.text))
                .with("HelloBytes", TransferMessages.HelloRequest.class, (stub, ask) -> stub.helloBytes(),
                        reply -> new TransferMessages.HelloBytesReply(reply.text))
                .with("Submit", TransferMessages.SubmitRequest.class, Batch::of,
                        (stub, ask) -> stub.submit(ask.name(), ask.records()), IdlStubs::readSubmitReply)
                .with("Upload", TransferMessages.UploadRequest.class, (stub, ask) -> stub.upload(ask.data),
                        reply -> new TransferMessages.UploadReply(reply.length, reply.sha256));
    }

    /** A request of Submit. */
    private record Batch(String name, Record[] records) {
        static Batch of(TransferMessages.SubmitRequest ask) {
            return new Batch(ask.batch, ask.records.stream()
                    .map(each -> new Record(each.id, each.quantity, each.item, each.remark))
                    .toArray(Record[]::new));
        }
    }

    private static TransferMessages.SubmitReply readSubmitReply(SubmitReply reply) {
        return new TransferMessages.SubmitReply(
                reply.batch, reply.accepted, reply.quantity_total,
                Arrays.stream(reply.refused)
                        .map(refusal -> new TransferMessages.Refusal(refusal.id, refusal.reason))
                        .toList());
    }

    private static Methods<Charging> charging() {
        return new Methods<Charging>(Stamps::sent)
                .with("Credit", ChargingMessages.CreditRequest.class,
                        (stub, ask) -> stub.credit(ask.id, ask.am),
                        reply -> new ChargingMessages.CreditReply(reply.cn))
                .with("DirectDebit", ChargingMessages.DirectDebitRequest.class,
                        (stub, ask) -> stub.directDebit(ask.id, ask.am),
                        reply -> new ChargingMessages.DirectDebitReply(reply.cn))
                .with("Reserve", ChargingMessages.ReserveRequest.class,
                        (stub, ask) -> stub.reserve(ask.id, ask.am),
                        reply -> new ChargingMessages.ReserveReply(reply.res, reply.cn))
                .with("DebitReservation", ChargingMessages.DebitReservationRequest.class,
                        (stub, ask) -> stub.debitReservation(ask.id, ask.am, ask.res),
                        reply -> new ChargingMessages.DebitReservationReply(reply.cn))
                .with("ReleaseRes", ChargingMessages.ReleaseResRequest.class,
                        (stub, ask) -> stub.releaseRes(ask.res),
                        reply -> new ChargingMessages.ReleaseResReply(reply.cn))
                .with("CreditControl", ChargingMessages.CreditControlRequest.class,
                        (stub, ask) -> stub.creditControl(ask.id),
                        reply -> new ChargingMessages.CreditControlReply(reply.balance, reply.reserved))
                .with("ConfirmAction", ChargingMessages.ConfirmActionRequest.class,
                        (stub, ask) -> stub.confirmAction(ask.cn),
                        reply -> new ChargingMessages.ConfirmActionReply(reply.cn));
    }

    private static Methods<Calendar> calendar() {
        return new Methods<Calendar>(Stamps::sent)
                .with("Deploy", CalendarMessages.DeployRequest.class, (stub, ask) -> stub.deploy(ask.document),
                        reply -> new CalendarMessages.DeployReply(reply.status))
                .with("Book", CalendarMessages.BookRequest.class,
                        (stub, ask) -> stub.book(
                                ask.owner, ask.day, ask.slot, ask.title, ask.open, ask.weight, ask.note),
                        reply -> new CalendarMessages.BookReply(reply.number, reply.owner, reply.title))
                .with("Entries", CalendarMessages.EntriesRequest.class,
                        (stub, ask) -> stub.entries(ask.owner, ask.day),
                        reply -> new CalendarMessages.EntriesReply(Arrays.stream(reply.entries)
                                .map(entry -> new CalendarMessages.Entry(
                                        entry.slot, entry.title, entry.open, entry.weight))
                                .toList()));
    }

    private static Methods<Records> records() {
        return new Methods<Records>(Stamps::sent)
                .with("Allocate", RecordsMessages.AllocateRequest.class,
                        (stub, ask) -> stub.allocate(ask.name, ask.id, ask.courseCode),
                        reply -> new RecordsMessages.AllocateReply(reply.message, team(reply.teamDetails)))
                .with("FindAllocation", RecordsMessages.FindAllocationRequest.class,
                        (stub, ask) -> stub.findAllocation(ask.groupId),
                        reply -> new RecordsMessages.FindAllocationReply(team(reply.teamDetails)))
                .with("CountAllocations", RecordsMessages.CountAllocationsRequest.class,
                        (stub, ask) -> stub.countAllocations(),
                        reply -> new RecordsMessages.CountAllocationsReply(reply.count));
    }

    private static RecordsMessages.Team team(Team of) {
        RecordsMessages.Team team = new RecordsMessages.Team(of.member1, of.member1id, of.courseCode);
        team.join(of.member2, of.member2id);
        team.groupId = of.groupId;
        return team;
    }
}
