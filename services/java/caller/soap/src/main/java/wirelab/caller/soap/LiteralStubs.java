package wirelab.caller.soap;

import java.util.List;
import wirelab.caller.Methods;
import wirelab.caller.Stamps;
import wirelab.caller.soap.literal.calendar.BookRequest;
import wirelab.caller.soap.literal.calendar.Calendar;
import wirelab.caller.soap.literal.calendar.DeployRequest;
import wirelab.caller.soap.literal.calendar.EntriesReply;
import wirelab.caller.soap.literal.calendar.EntriesRequest;
import wirelab.caller.soap.literal.charging.Charging;
import wirelab.caller.soap.literal.charging.ConfirmActionRequest;
import wirelab.caller.soap.literal.charging.CreditControlRequest;
import wirelab.caller.soap.literal.charging.CreditRequest;
import wirelab.caller.soap.literal.charging.DebitReservationRequest;
import wirelab.caller.soap.literal.charging.DirectDebitRequest;
import wirelab.caller.soap.literal.charging.ReleaseResRequest;
import wirelab.caller.soap.literal.charging.ReserveRequest;
import wirelab.caller.soap.literal.records.AllocateRequest;
import wirelab.caller.soap.literal.records.CountAllocationsRequest;
import wirelab.caller.soap.literal.records.FindAllocationRequest;
import wirelab.caller.soap.literal.records.Records;
import wirelab.caller.soap.literal.records.Team;
import wirelab.caller.soap.literal.transfer.HelloRequest;
import wirelab.caller.soap.literal.transfer.Record;
import wirelab.caller.soap.literal.transfer.SubmitReply;
import wirelab.caller.soap.literal.transfer.SubmitRequest;
import wirelab.caller.soap.literal.transfer.Transfer;
import wirelab.caller.soap.literal.transfer.UploadRequest;
import wirelab.service.contract.message.CalendarMessages;
import wirelab.service.contract.message.ChargingMessages;
import wirelab.service.contract.message.RecordsMessages;
import wirelab.service.contract.message.TransferMessages;

/** The interfaces of document/literal: each operation takes one message and returns one. */
final class LiteralStubs {
    private LiteralStubs() {}

    static Stub<?> of(String contract) {
        return switch (contract) {
            case "transfer" -> new Stub<>(Transfer.class, transfer());
            case "charging" -> new Stub<>(Charging.class, charging());
            case "calendar" -> new Stub<>(Calendar.class, calendar());
            default -> new Stub<>(Records.class, records());
        };
    }

    private static Methods<Transfer> transfer() {
        return new Methods<Transfer>(Stamps::sent)
                .with("Hello", TransferMessages.HelloRequest.class, ask -> new HelloRequest(), Transfer::hello,
                        reply -> new TransferMessages.HelloReply(reply.getText()))
                .with("HelloBytes", TransferMessages.HelloRequest.class, ask -> new HelloRequest(),
                        Transfer::helloBytes, reply -> new TransferMessages.HelloBytesReply(reply.getText()))
                .with("Submit", TransferMessages.SubmitRequest.class, LiteralStubs::submit, Transfer::submit,
                        LiteralStubs::readSubmitReply)
                .with("Upload", TransferMessages.UploadRequest.class, LiteralStubs::upload, Transfer::upload,
                        reply -> new TransferMessages.UploadReply(reply.getLength(), reply.getSha256()));
    }

    private static SubmitRequest submit(TransferMessages.SubmitRequest ask) {
        SubmitRequest request = new SubmitRequest();
        request.setBatch(ask.batch);
        for (TransferMessages.Record each : ask.records) {
            Record record = new Record();
            record.setId(each.id);
            record.setQuantity(each.quantity);
            record.setItem(each.item);
            record.setRemark(each.remark);
            request.getRecords().add(record);
        }
        return request;
    }

    private static TransferMessages.SubmitReply readSubmitReply(SubmitReply reply) {
        List<TransferMessages.Refusal> refused = reply.getRefused().stream()
                .map(refusal -> new TransferMessages.Refusal(refusal.getId(), refusal.getReason()))
                .toList();
        return new TransferMessages.SubmitReply(
                reply.getBatch(), reply.getAccepted(), reply.getQuantityTotal(), refused);
    }

    private static UploadRequest upload(TransferMessages.UploadRequest ask) {
        UploadRequest request = new UploadRequest();
        request.setData(ask.data);
        return request;
    }

    private static Methods<Charging> charging() {
        return new Methods<Charging>(Stamps::sent)
                .with("Credit", ChargingMessages.CreditRequest.class, LiteralStubs::credit, Charging::credit,
                        reply -> new ChargingMessages.CreditReply(reply.getCn()))
                .with("DirectDebit", ChargingMessages.DirectDebitRequest.class, LiteralStubs::directDebit,
                        Charging::directDebit, reply -> new ChargingMessages.DirectDebitReply(reply.getCn()))
                .with("Reserve", ChargingMessages.ReserveRequest.class, LiteralStubs::reserve, Charging::reserve,
                        reply -> new ChargingMessages.ReserveReply(reply.getRes(), reply.getCn()))
                .with("DebitReservation", ChargingMessages.DebitReservationRequest.class,
                        LiteralStubs::debitReservation, Charging::debitReservation,
                        reply -> new ChargingMessages.DebitReservationReply(reply.getCn()))
                .with("ReleaseRes", ChargingMessages.ReleaseResRequest.class, LiteralStubs::releaseRes,
                        Charging::releaseRes, reply -> new ChargingMessages.ReleaseResReply(reply.getCn()))
                .with("CreditControl", ChargingMessages.CreditControlRequest.class, LiteralStubs::creditControl,
                        Charging::creditControl,
                        reply -> new ChargingMessages.CreditControlReply(reply.getBalance(), reply.getReserved()))
                .with("ConfirmAction", ChargingMessages.ConfirmActionRequest.class, LiteralStubs::confirmAction,
                        Charging::confirmAction, reply -> new ChargingMessages.ConfirmActionReply(reply.getCn()));
    }

    private static CreditRequest credit(ChargingMessages.CreditRequest ask) {
        CreditRequest request = new CreditRequest();
        request.setId(ask.id);
        request.setAm(ask.am);
        return request;
    }

    private static DirectDebitRequest directDebit(ChargingMessages.DirectDebitRequest ask) {
        DirectDebitRequest request = new DirectDebitRequest();
        request.setId(ask.id);
        request.setAm(ask.am);
        return request;
    }

    private static ReserveRequest reserve(ChargingMessages.ReserveRequest ask) {
        ReserveRequest request = new ReserveRequest();
        request.setId(ask.id);
        request.setAm(ask.am);
        return request;
    }

    private static DebitReservationRequest debitReservation(ChargingMessages.DebitReservationRequest ask) {
        DebitReservationRequest request = new DebitReservationRequest();
        request.setId(ask.id);
        request.setAm(ask.am);
        request.setRes(ask.res);
        return request;
    }

    private static ReleaseResRequest releaseRes(ChargingMessages.ReleaseResRequest ask) {
        ReleaseResRequest request = new ReleaseResRequest();
        request.setRes(ask.res);
        return request;
    }

    private static CreditControlRequest creditControl(ChargingMessages.CreditControlRequest ask) {
        CreditControlRequest request = new CreditControlRequest();
        request.setId(ask.id);
        return request;
    }

    private static ConfirmActionRequest confirmAction(ChargingMessages.ConfirmActionRequest ask) {
        ConfirmActionRequest request = new ConfirmActionRequest();
        request.setCn(ask.cn);
        return request;
    }

    private static Methods<Calendar> calendar() {
        return new Methods<Calendar>(Stamps::sent)
                .with("Deploy", CalendarMessages.DeployRequest.class, LiteralStubs::deploy, Calendar::deploy,
                        reply -> new CalendarMessages.DeployReply(reply.getStatus()))
                .with("Book", CalendarMessages.BookRequest.class, LiteralStubs::book, Calendar::book,
                        reply -> new CalendarMessages.BookReply(
                                reply.getNumber(), reply.getOwner(), reply.getTitle()))
                .with("Entries", CalendarMessages.EntriesRequest.class, LiteralStubs::entries, Calendar::entries,
                        LiteralStubs::readEntries);
    }

    private static DeployRequest deploy(CalendarMessages.DeployRequest ask) {
        DeployRequest request = new DeployRequest();
        request.setDocument(ask.document);
        return request;
    }

    private static BookRequest book(CalendarMessages.BookRequest ask) {
        BookRequest request = new BookRequest();
        request.setOwner(ask.owner);
        request.setDay(ask.day);
        request.setSlot(ask.slot);
        request.setTitle(ask.title);
        request.setOpen(ask.open);
        request.setWeight(ask.weight);
        request.setNote(ask.note);
        return request;
    }

    private static EntriesRequest entries(CalendarMessages.EntriesRequest ask) {
        EntriesRequest request = new EntriesRequest();
        request.setOwner(ask.owner);
        request.setDay(ask.day);
        return request;
    }

    private static CalendarMessages.EntriesReply readEntries(EntriesReply reply) {
        return new CalendarMessages.EntriesReply(reply.getEntries().stream()
                .map(entry -> new CalendarMessages.Entry(
                        entry.getSlot(), entry.getTitle(), entry.isOpen(), entry.getWeight()))
                .toList());
    }

    private static Methods<Records> records() {
        return new Methods<Records>(Stamps::sent)
                .with("Allocate", RecordsMessages.AllocateRequest.class, LiteralStubs::allocate, Records::allocate,
                        reply -> new RecordsMessages.AllocateReply(
                                reply.getMessage(), team(reply.getTeamDetails())))
                .with("FindAllocation", RecordsMessages.FindAllocationRequest.class, LiteralStubs::find,
                        Records::findAllocation,
                        reply -> new RecordsMessages.FindAllocationReply(team(reply.getTeamDetails())))
                .with("CountAllocations", RecordsMessages.CountAllocationsRequest.class,
                        ask -> new CountAllocationsRequest(), Records::countAllocations,
                        reply -> new RecordsMessages.CountAllocationsReply(reply.getCount()));
    }

    private static AllocateRequest allocate(RecordsMessages.AllocateRequest ask) {
        AllocateRequest request = new AllocateRequest();
        request.setName(ask.name);
        request.setId(ask.id);
        request.setCourseCode(ask.courseCode);
        return request;
    }

    private static FindAllocationRequest find(RecordsMessages.FindAllocationRequest ask) {
        FindAllocationRequest request = new FindAllocationRequest();
        request.setGroupId(ask.groupId);
        return request;
    }

    private static RecordsMessages.Team team(Team of) {
        RecordsMessages.Team team = new RecordsMessages.Team(
                of.getMember1(), of.getMember1Id(), of.getCourseCode());
        team.join(of.getMember2(), of.getMember2Id());
        team.groupId = of.getGroupId();
        return team;
    }
}
