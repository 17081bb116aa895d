package wirelab.caller.axis;

import java.net.URL;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import javax.xml.rpc.ServiceException;
import javax.xml.rpc.holders.IntHolder;
import javax.xml.rpc.holders.LongHolder;
import javax.xml.rpc.holders.StringHolder;
import org.apache.axis.EngineConfiguration;
import org.apache.axis.client.Stub;
import wirelab.caller.Call;
import wirelab.caller.Methods;
import wirelab.caller.Stamps;
import wirelab.caller.axis.calendar.Calendar;
import wirelab.caller.axis.calendar.CalendarServiceLocator;
import wirelab.caller.axis.calendar.Entry;
import wirelab.caller.axis.charging.Charging;
import wirelab.caller.axis.charging.ChargingServiceLocator;
import wirelab.caller.axis.records.Records;
import wirelab.caller.axis.records.RecordsServiceLocator;
import wirelab.caller.axis.records.Team;
import wirelab.caller.axis.records.holders.TeamHolder;
import wirelab.caller.axis.transfer.Transfer;
import wirelab.caller.axis.transfer.TransferServiceLocator;
import wirelab.service.contract.message.CalendarMessages;
import wirelab.service.contract.message.ChargingMessages;
import wirelab.service.contract.message.RecordsMessages;
import wirelab.service.contract.message.TransferMessages;

/** An interface that Axis's WSDL2Java made of the contract's WSDL, with its operations and what makes its stubs. */
record EncodedStubs<S>(Class<S> type, Locator locator, Methods<S> methods) {
    /** Makes the stub of an address. */
    interface Locator {
        Object locate(EngineConfiguration deployment, URL address) throws ServiceException;
    }

    /** Of a contract of the plan. */
    static EncodedStubs<?> of(String contract) {
        return switch (contract) {
            case "transfer" -> new EncodedStubs<>(
                    Transfer.class,
                    (deployment, address) -> new TransferServiceLocator(deployment).getTransferSoap11(address),
                    transfer());
            case "charging" -> new EncodedStubs<>(
                    Charging.class,
                    (deployment, address) -> new ChargingServiceLocator(deployment).getChargingSoap11(address),
                    charging());
            case "calendar" -> new EncodedStubs<>(
                    Calendar.class,
                    (deployment, address) -> new CalendarServiceLocator(deployment).getCalendarSoap11(address),
                    calendar());
            default -> new EncodedStubs<>(
                    Records.class,
                    (deployment, address) -> new RecordsServiceLocator(deployment).getRecordsSoap11(address),
                    records());
        };
    }

    Object call(Stub stub, Call call, Stamps at) throws Exception {
        return methods.call(type.cast(stub), call, at);
    }

    /** Makes a call whose reply is read once it is stamped. */
    private static <S, C> void add(
            Methods<S> methods, String operation, Class<C> message,
            Methods.Invocation<S, C, Supplier<Object>> invocation) {
        methods.with(operation, message, invocation, Supplier::get);
    }

    /** Without Submit: Axis names the items of an array like the array, and services read only {@code item}. */
    private static Methods<Transfer> transfer() {
        Methods<Transfer> methods = new Methods<>(Stamps::sent);
        methods.with("Hello", TransferMessages.HelloRequest.class, (stub, ask) -> stub.hello(),
                TransferMessages.HelloReply::new);
        methods.with("HelloBytes", TransferMessages.HelloRequest.class, (stub, ask) -> stub.helloBytes(),
                TransferMessages.HelloBytesReply::new);
        add(methods, "Upload", TransferMessages.UploadRequest.class, (stub, ask) -> {
            LongHolder length = new LongHolder();
            StringHolder sha256 = new StringHolder();
            stub.upload(ask.data, length, sha256);
            return () -> new TransferMessages.UploadReply(length.value, sha256.value);
        });
        return methods;
    }

    private static Methods<Charging> charging() {
        Methods<Charging> methods = new Methods<>(Stamps::sent);
        methods.with("Credit", ChargingMessages.CreditRequest.class,
                (stub, ask) -> stub.credit(ask.id, ask.am), ChargingMessages.CreditReply::new);
        methods.with("DirectDebit", ChargingMessages.DirectDebitRequest.class,
                (stub, ask) -> stub.directDebit(ask.id, ask.am), ChargingMessages.DirectDebitReply::new);
        add(methods, "Reserve", ChargingMessages.ReserveRequest.class, (stub, ask) -> {
            IntHolder reservation = new IntHolder();
            IntHolder confirmation = new IntHolder();
            stub.reserve(ask.id, ask.am, reservation, confirmation);
            return () -> new ChargingMessages.ReserveReply(reservation.value, confirmation.value);
        });
        methods.with("DebitReservation", ChargingMessages.DebitReservationRequest.class,
                (stub, ask) -> stub.debitReservation(ask.id, ask.am, ask.res),
                ChargingMessages.DebitReservationReply::new);
        methods.with("ReleaseRes", ChargingMessages.ReleaseResRequest.class,
                (stub, ask) -> stub.releaseRes(ask.res), ChargingMessages.ReleaseResReply::new);
        add(methods, "CreditControl", ChargingMessages.CreditControlRequest.class, (stub, ask) -> {
            IntHolder balance = new IntHolder();
            IntHolder reserved = new IntHolder();
            stub.creditControl(ask.id, balance, reserved);
            return () -> new ChargingMessages.CreditControlReply(balance.value, reserved.value);
        });
        add(methods, "ConfirmAction", ChargingMessages.ConfirmActionRequest.class, (stub, ask) -> {
            IntHolder confirmation = new IntHolder(ask.cn);
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
            StringHolder owner = new StringHolder(ask.owner);
            StringHolder title = new StringHolder(ask.title);
            int number = stub.book(owner, ask.day, ask.slot, title, ask.open, ask.weight, ask.note);
            return () -> new CalendarMessages.BookReply(number, owner.value, title.value);
        });
        methods.with("Entries", CalendarMessages.EntriesRequest.class,
                (stub, ask) -> stub.entries(ask.owner, ask.day),
                reply -> new CalendarMessages.EntriesReply(entries(reply)));
        return methods;
    }

    private static List<CalendarMessages.Entry> entries(Entry[] reply) {
        return Arrays.stream(reply)
                .map(entry -> new CalendarMessages.Entry(
                        entry.getSlot(), entry.getTitle(), entry.isOpen(), entry.getWeight()))
                .toList();
    }

    private static Methods<Records> records() {
        Methods<Records> methods = new Methods<>(Stamps::sent);
        add(methods, "Allocate", RecordsMessages.AllocateRequest.class, (stub, ask) -> {
            StringHolder message = new StringHolder();
            TeamHolder team = new TeamHolder();
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
