package wirelab.caller.soap;

import jakarta.xml.ws.Holder;
import java.util.function.Supplier;
import wirelab.caller.Methods;
import wirelab.caller.Stamps;
import wirelab.caller.soap.rpc.calendar.Calendar;
import wirelab.caller.soap.rpc.calendar.EntryList;
import wirelab.caller.soap.rpc.charging.Charging;
import wirelab.caller.soap.rpc.records.Records;
import wirelab.caller.soap.rpc.records.Team;
import wirelab.caller.soap.rpc.transfer.Record;
import wirelab.caller.soap.rpc.transfer.RecordList;
import wirelab.caller.soap.rpc.transfer.RefusalList;
import wirelab.caller.soap.rpc.transfer.Transfer;
import wirelab.service.contract.message.CalendarMessages;
import wirelab.service.contract.message.ChargingMessages;
import wirelab.service.contract.message.RecordsMessages;
import wirelab.service.contract.message.TransferMessages;

/** The interfaces of rpc/literal: fields are parameters, and holders take the fields of a reply. */
final class RpcStubs {
    private RpcStubs() {}

    static Stub<?> of(String contract) {
        return switch (contract) {
            case "transfer" -> new Stub<>(Transfer.class, transfer());
            case "charging" -> new Stub<>(Charging.class, charging());
            case "calendar" -> new Stub<>(Calendar.class, calendar());
            default -> new Stub<>(Records.class, records());
        };
    }

    /** Makes a call whose reply is read once it is stamped. */
    private static <S, C> void add(
            Methods<S> methods, String operation, Class<C> message,
            Methods.Invocation<S, C, Supplier<Object>> invocation) {
        methods.with(operation, message, invocation, Supplier::get);
    }

    private static Methods<Transfer> transfer() {
        Methods<Transfer> methods = new Methods<>(Stamps::sent);
        methods.with("Hello", TransferMessages.HelloRequest.class, (stub, ask) -> stub.hello(),
                TransferMessages.HelloReply::new);
        methods.with("HelloBytes", TransferMessages.HelloRequest.class, (stub, ask) -> stub.helloBytes(),
                TransferMessages.HelloBytesReply::new);
        methods.with("Submit", TransferMessages.SubmitRequest.class, Batch::of, RpcStubs::submit, Supplier::get);
        add(methods, "Upload", TransferMessages.UploadRequest.class, (stub, ask) -> {
            Holder<Long> length = new Holder<>();
            Holder<String> sha256 = new Holder<>();
            stub.upload(ask.data, length, sha256);
            return () -> new TransferMessages.UploadReply(length.value, sha256.value);
        });
        return methods;
    }

    /** A request of Submit. */
    private record Batch(String name, RecordList records) {
        static Batch of(TransferMessages.SubmitRequest ask) {
            RecordList records = new RecordList();
            for (TransferMessages.Record each : ask.records) {
                Record record = new Record();
                record.setId(each.id);
                record.setQuantity(each.quantity);
                record.setItem(each.item);
                record.setRemark(each.remark);
                records.getItem().add(record);
            }
            return new Batch(ask.batch, records);
        }
    }

    private static Supplier<Object> submit(Transfer stub, Batch ask) {
        Holder<String> batch = new Holder<>(ask.name());
        Holder<Integer> accepted = new Holder<>();
        Holder<Long> quantityTotal = new Holder<>();
        Holder<RefusalList> refused = new Holder<>();
        stub.submit(batch, ask.records(), accepted, quantityTotal, refused);
        return () -> new TransferMessages.SubmitReply(
                batch.value, accepted.value, quantityTotal.value,
                refused.value.getItem().stream()
                        .map(refusal -> new TransferMessages.Refusal(refusal.getId(), refusal.getReason()))
                        .toList());
    }

    private static Methods<Charging> charging() {
        Methods<Charging> methods = new Methods<>(Stamps::sent);
        methods.with("Credit", ChargingMessages.CreditRequest.class,
                (stub, ask) -> stub.credit(ask.id, ask.am), ChargingMessages.CreditReply::new);
        methods.with("DirectDebit", ChargingMessages.DirectDebitRequest.class,
                (stub, ask) -> stub.directDebit(ask.id, ask.am), ChargingMessages.DirectDebitReply::new);
        add(methods, "Reserve", ChargingMessages.ReserveRequest.class, (stub, ask) -> {
            Holder<Integer> reservation = new Holder<>();
            Holder<Integer> confirmation = new Holder<>();
            stub.reserve(ask.id, ask.am, reservation, confirmation);
            return () -> new ChargingMessages.ReserveReply(reservation.value, confirmation.value);
        });
        methods.with("DebitReservation", ChargingMessages.DebitReservationRequest.class,
                (stub, ask) -> stub.debitReservation(ask.id, ask.am, ask.res),
                ChargingMessages.DebitReservationReply::new);
        methods.with("ReleaseRes", ChargingMessages.ReleaseResRequest.class,
                (stub, ask) -> stub.releaseRes(ask.res), ChargingMessages.ReleaseResReply::new);
        add(methods, "CreditControl", ChargingMessages.CreditControlRequest.class, (stub, ask) -> {
            Holder<Integer> balance = new Holder<>();
            Holder<Integer> reserved = new Holder<>();
            stub.creditControl(ask.id, balance, reserved);
            return () -> new ChargingMessages.CreditControlReply(balance.value, reserved.value);
        });
        add(methods, "ConfirmAction", ChargingMessages.ConfirmActionRequest.class, (stub, ask) -> {
            Holder<Integer> confirmation = new Holder<>(ask.cn);
            stub.confirmAction(confirmation);
            return () -> new ChargingMessages.ConfirmActionReply(confirmation.value);
        });
        return methods;
    }

    private static Methods<Calendar> calendar() {
        Methods<Calendar> methods = new Methods<>(Stamps::sent);
        methods.with("Deploy", CalendarMessages.DeployRequest.class,
                (stub, ask) -> stub.deploy(ask.document), CalendarMessages.DeployReply::new);
        add(methods, "Book", CalendarMessages.BookRequest.class, (stub, ask) -> {
            Holder<String> owner = new Holder<>(ask.owner);
            Holder<String> title = new Holder<>(ask.title);
            int number = stub.book(owner, ask.day, ask.slot, title, ask.open, ask.weight, ask.note);
            return () -> new CalendarMessages.BookReply(number, owner.value, title.value);
        });
        methods.with("Entries", CalendarMessages.EntriesRequest.class,
                (stub, ask) -> stub.entries(ask.owner, ask.day), RpcStubs::entries);
        return methods;
    }

    private static CalendarMessages.EntriesReply entries(EntryList reply) {
        return new CalendarMessages.EntriesReply(reply.getItem().stream()
                .map(entry -> new CalendarMessages.Entry(
                        entry.getSlot(), entry.getTitle(), entry.isOpen(), entry.getWeight()))
                .toList());
    }

    private static Methods<Records> records() {
        Methods<Records> methods = new Methods<>(Stamps::sent);
        add(methods, "Allocate", RecordsMessages.AllocateRequest.class, (stub, ask) -> {
            Holder<String> message = new Holder<>();
            Holder<Team> team = new Holder<>();
            stub.allocate(ask.name, ask.id, ask.courseCode, message, team);
            return () -> new RecordsMessages.AllocateReply(message.value, team(team.value));
        });
        methods.with("FindAllocation", RecordsMessages.FindAllocationRequest.class,
                (stub, ask) -> stub.findAllocation(ask.groupId),
                reply -> new RecordsMessages.FindAllocationReply(team(reply)));
        methods.with("CountAllocations", RecordsMessages.CountAllocationsRequest.class,
                (stub, ask) -> stub.countAllocations(), RecordsMessages.CountAllocationsReply::new);
        return methods;
    }

    private static RecordsMessages.Team team(Team of) {
        RecordsMessages.Team team = new RecordsMessages.Team(
                of.getMember1(), of.getMember1Id(), of.getCourseCode());
        team.join(of.getMember2(), of.getMember2Id());
        team.groupId = of.getGroupId();
        return team;
    }
}
