package wirelab.caller.protobuf;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import java.util.Map;
import java.util.function.Function;
import wirelab.calendar.v1.BookReply;
import wirelab.calendar.v1.BookRequest;
import wirelab.calendar.v1.DeployReply;
import wirelab.calendar.v1.DeployRequest;
import wirelab.calendar.v1.EntriesReply;
import wirelab.calendar.v1.EntriesRequest;
import wirelab.charging.v1.ConfirmActionReply;
import wirelab.charging.v1.ConfirmActionRequest;
import wirelab.charging.v1.CreditControlReply;
import wirelab.charging.v1.CreditControlRequest;
import wirelab.charging.v1.CreditReply;
import wirelab.charging.v1.CreditRequest;
import wirelab.charging.v1.DebitReservationReply;
import wirelab.charging.v1.DebitReservationRequest;
import wirelab.charging.v1.DirectDebitReply;
import wirelab.charging.v1.DirectDebitRequest;
import wirelab.charging.v1.ReleaseResReply;
import wirelab.charging.v1.ReleaseResRequest;
import wirelab.charging.v1.ReserveReply;
import wirelab.charging.v1.ReserveRequest;
import wirelab.records.v1.AllocateReply;
import wirelab.records.v1.AllocateRequest;
import wirelab.records.v1.CountAllocationsReply;
import wirelab.records.v1.CountAllocationsRequest;
import wirelab.records.v1.FindAllocationReply;
import wirelab.records.v1.FindAllocationRequest;
import wirelab.records.v1.Team;
import wirelab.service.contract.message.CalendarMessages;
import wirelab.service.contract.message.ChargingMessages;
import wirelab.service.contract.message.RecordsMessages;
import wirelab.service.contract.message.TransferMessages;
import wirelab.transfer.v1.HelloBytesReply;
import wirelab.transfer.v1.HelloReply;
import wirelab.transfer.v1.HelloRequest;
import wirelab.transfer.v1.Record;
import wirelab.transfer.v1.SubmitReply;
import wirelab.transfer.v1.SubmitRequest;
import wirelab.transfer.v1.UploadReply;
import wirelab.transfer.v1.UploadRequest;

/** The contract's messages as generated classes of Protocol Buffers, and back. */
public final class Messages {
    /** Request and reply of an operation. */
    public record Form<C, Q extends Message, A extends Message>(
            Class<C> message, Function<C, Q> request, Class<A> replyClass, Function<A, Object> reply) {
        /** The request of a call. */
        public Q requestOf(Object of) {
            return request.apply(message.cast(of));
        }

        /** A decoded reply as a message of the contract. */
        public Object replyOf(Message of) {
            return reply.apply(replyClass.cast(of));
        }
    }

    public static final Form<TransferMessages.HelloRequest, HelloRequest, HelloReply> HELLO = new Form<>(
            TransferMessages.HelloRequest.class, ask -> HelloRequest.getDefaultInstance(), HelloReply.class,
            reply -> new TransferMessages.HelloReply(reply.getText()));

    public static final Form<TransferMessages.HelloRequest, HelloRequest, HelloBytesReply> HELLO_BYTES = new Form<>(
            TransferMessages.HelloRequest.class, ask -> HelloRequest.getDefaultInstance(), HelloBytesReply.class,
            reply -> new TransferMessages.HelloBytesReply(reply.getText().toByteArray()));

    public static final Form<TransferMessages.SubmitRequest, SubmitRequest, SubmitReply> SUBMIT = new Form<>(
            TransferMessages.SubmitRequest.class, Messages::submit, SubmitReply.class, Messages::readSubmitReply);

    public static final Form<TransferMessages.UploadRequest, UploadRequest, UploadReply> UPLOAD = new Form<>(
            TransferMessages.UploadRequest.class,
            ask -> UploadRequest.newBuilder().setData(ByteString.copyFrom(ask.data)).build(), UploadReply.class,
            Messages::readUploadReply);

    public static final Form<ChargingMessages.CreditRequest, CreditRequest, CreditReply> CREDIT = new Form<>(
            ChargingMessages.CreditRequest.class,
            ask -> CreditRequest.newBuilder().setId(ask.id).setAm(ask.am).build(), CreditReply.class,
            reply -> new ChargingMessages.CreditReply(reply.getCn()));

    public static final Form<ChargingMessages.DirectDebitRequest, DirectDebitRequest, DirectDebitReply>
            DIRECT_DEBIT = new Form<>(
                    ChargingMessages.DirectDebitRequest.class,
                    ask -> DirectDebitRequest.newBuilder().setId(ask.id).setAm(ask.am).build(), DirectDebitReply.class,
                    reply -> new ChargingMessages.DirectDebitReply(reply.getCn()));

    public static final Form<ChargingMessages.ReserveRequest, ReserveRequest, ReserveReply> RESERVE = new Form<>(
            ChargingMessages.ReserveRequest.class,
            ask -> ReserveRequest.newBuilder().setId(ask.id).setAm(ask.am).build(), ReserveReply.class,
            reply -> new ChargingMessages.ReserveReply(reply.getRes(), reply.getCn()));

    public static final Form<ChargingMessages.DebitReservationRequest, DebitReservationRequest, DebitReservationReply>
            DEBIT_RESERVATION = new Form<>(
                    ChargingMessages.DebitReservationRequest.class,
                    ask -> DebitReservationRequest.newBuilder().setId(ask.id).setAm(ask.am).setRes(ask.res).build(),
                    DebitReservationReply.class,
                    reply -> new ChargingMessages.DebitReservationReply(reply.getCn()));

    public static final Form<ChargingMessages.ReleaseResRequest, ReleaseResRequest, ReleaseResReply>
            RELEASE_RES = new Form<>(
                    ChargingMessages.ReleaseResRequest.class,
                    ask -> ReleaseResRequest.newBuilder().setRes(ask.res).build(), ReleaseResReply.class,
                    reply -> new ChargingMessages.ReleaseResReply(reply.getCn()));

    public static final Form<ChargingMessages.CreditControlRequest, CreditControlRequest, CreditControlReply>
            CREDIT_CONTROL = new Form<>(
                    ChargingMessages.CreditControlRequest.class,
                    ask -> CreditControlRequest.newBuilder().setId(ask.id).build(), CreditControlReply.class,
                    reply -> new ChargingMessages.CreditControlReply(reply.getBalance(), reply.getReserved()));

    public static final Form<ChargingMessages.ConfirmActionRequest, ConfirmActionRequest, ConfirmActionReply>
            CONFIRM_ACTION = new Form<>(
                    ChargingMessages.ConfirmActionRequest.class,
                    ask -> ConfirmActionRequest.newBuilder().setCn(ask.cn).build(), ConfirmActionReply.class,
                    reply -> new ChargingMessages.ConfirmActionReply(reply.getCn()));

    public static final Form<CalendarMessages.DeployRequest, DeployRequest, DeployReply> DEPLOY = new Form<>(
            CalendarMessages.DeployRequest.class,
            ask -> DeployRequest.newBuilder().setDocument(ask.document).build(), DeployReply.class,
            reply -> new CalendarMessages.DeployReply(reply.getStatus()));

    public static final Form<CalendarMessages.BookRequest, BookRequest, BookReply> BOOK = new Form<>(
            CalendarMessages.BookRequest.class, Messages::book, BookReply.class,
            reply -> new CalendarMessages.BookReply(reply.getNumber(), reply.getOwner(), reply.getTitle()));

    public static final Form<CalendarMessages.EntriesRequest, EntriesRequest, EntriesReply> ENTRIES = new Form<>(
            CalendarMessages.EntriesRequest.class,
            ask -> EntriesRequest.newBuilder().setOwner(ask.owner).setDay(ask.day).build(), EntriesReply.class,
            Messages::entries);

    public static final Form<RecordsMessages.AllocateRequest, AllocateRequest, AllocateReply> ALLOCATE = new Form<>(
            RecordsMessages.AllocateRequest.class,
            ask -> AllocateRequest.newBuilder()
                    .setName(ask.name).setId(ask.id).setCourseCode(ask.courseCode).build(),
            AllocateReply.class,
            reply -> new RecordsMessages.AllocateReply(
                    reply.getMessage(), reply.hasTeamDetails() ? team(reply.getTeamDetails()) : null));

    public static final Form<RecordsMessages.FindAllocationRequest, FindAllocationRequest, FindAllocationReply>
            FIND_ALLOCATION = new Form<>(
                    RecordsMessages.FindAllocationRequest.class,
                    ask -> FindAllocationRequest.newBuilder().setGroupId(ask.groupId).build(),
                    FindAllocationReply.class,
                    reply -> new RecordsMessages.FindAllocationReply(
                            reply.hasTeamDetails() ? team(reply.getTeamDetails()) : null));

    public static final Form<RecordsMessages.CountAllocationsRequest, CountAllocationsRequest, CountAllocationsReply>
            COUNT_ALLOCATIONS = new Form<>(
                    RecordsMessages.CountAllocationsRequest.class,
                    ask -> CountAllocationsRequest.getDefaultInstance(), CountAllocationsReply.class,
                    reply -> new RecordsMessages.CountAllocationsReply(reply.getCount()));

    /** By operation. */
    public static final Map<String, Form<?, ?, ?>> ALL = Map.ofEntries(
            Map.entry("Hello", HELLO), Map.entry("HelloBytes", HELLO_BYTES), Map.entry("Submit", SUBMIT),
            Map.entry("Upload", UPLOAD), Map.entry("Credit", CREDIT), Map.entry("DirectDebit", DIRECT_DEBIT),
            Map.entry("Reserve", RESERVE), Map.entry("DebitReservation", DEBIT_RESERVATION),
            Map.entry("ReleaseRes", RELEASE_RES), Map.entry("CreditControl", CREDIT_CONTROL),
            Map.entry("ConfirmAction", CONFIRM_ACTION), Map.entry("Deploy", DEPLOY), Map.entry("Book", BOOK),
            Map.entry("Entries", ENTRIES), Map.entry("Allocate", ALLOCATE),
            Map.entry("FindAllocation", FIND_ALLOCATION), Map.entry("CountAllocations", COUNT_ALLOCATIONS));

    private Messages() {}

    private static SubmitRequest submit(TransferMessages.SubmitRequest ask) {
        SubmitRequest.Builder request = SubmitRequest.newBuilder().setBatch(ask.batch);
        for (TransferMessages.Record record : ask.records) {
            request.addRecords(Record.newBuilder().setId(record.id).setQuantity(record.quantity)
                    .setItem(record.item).setRemark(record.remark));
        }
        return request.build();
    }

    private static TransferMessages.SubmitReply readSubmitReply(SubmitReply reply) {
        return new TransferMessages.SubmitReply(
                reply.getBatch(), reply.getAccepted(), reply.getQuantityTotal(),
                reply.getRefusedList().stream()
                        .map(refusal -> new TransferMessages.Refusal(refusal.getId(), refusal.getReason()))
                        .toList());
    }

    /** The reply to an upload, in one message or in many. */
    public static TransferMessages.UploadReply readUploadReply(UploadReply reply) {
        return new TransferMessages.UploadReply(reply.getLength(), reply.getSha256());
    }

    private static BookRequest book(CalendarMessages.BookRequest ask) {
        return BookRequest.newBuilder().setOwner(ask.owner).setDay(ask.day).setSlot(ask.slot).setTitle(ask.title)
                .setOpen(ask.open).setWeight(ask.weight).setNote(ask.note).build();
    }

    private static CalendarMessages.EntriesReply entries(EntriesReply reply) {
        return new CalendarMessages.EntriesReply(reply.getEntriesList().stream()
                .map(entry -> new CalendarMessages.Entry(
                        entry.getSlot(), entry.getTitle(), entry.getOpen(), entry.getWeight()))
                .toList());
    }

    private static RecordsMessages.Team team(Team of) {
        RecordsMessages.Team team = new RecordsMessages.Team(of.getMember1(), of.getMember1Id(), of.getCourseCode());
        team.join(of.getMember2(), of.getMember2Id());
        team.groupId = of.getGroupId();
        return team;
    }
}
