package wirelab.service.protobuf;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import java.util.List;
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
import wirelab.service.contract.ApplicationError;
import wirelab.service.contract.Calendar;
import wirelab.service.contract.Charging;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Model;
import wirelab.service.contract.Records;
import wirelab.service.contract.Stream;
import wirelab.service.contract.Transfer;
import wirelab.service.contract.message.CalendarMessages.Entry;
import wirelab.service.contract.message.RecordsMessages;
import wirelab.transfer.v1.HelloBytesReply;
import wirelab.transfer.v1.HelloReply;
import wirelab.transfer.v1.HelloRequest;
import wirelab.transfer.v1.Record;
import wirelab.transfer.v1.Refusal;
import wirelab.transfer.v1.SubmitReply;
import wirelab.transfer.v1.SubmitRequest;
import wirelab.transfer.v1.UploadReply;
import wirelab.transfer.v1.UploadRequest;

/** The contracts' unary operations over the generated classes of Protocol Buffers. */
public final class ProtobufExchanges {
    private ProtobufExchanges() {}

    /** The operations of a model; streams are not among them. */
    public static List<Exchange<? extends Message, ? extends Message>> of(Model model) {
        if (model instanceof Transfer transfer) {
            return transfer(transfer);
        }
        if (model instanceof Records records) {
            return records(records);
        }
        if (model instanceof Stream) {
            return List.of();
        }
        return model instanceof Charging charging ? chargingExchanges(charging) : calendar((Calendar) model);
    }

    private static List<Exchange<? extends Message, ? extends Message>> transfer(Transfer model) {
        ByteString bytes = ByteString.copyFromUtf8(model.text());
        return List.of(
                new Exchange<>("Hello", HelloRequest.class, HelloReply.class,
                        ask -> HelloReply.newBuilder().setText(model.text()).build()),
                new Exchange<>("HelloBytes", HelloRequest.class, HelloBytesReply.class,
                        ask -> HelloBytesReply.newBuilder().setText(bytes).build()),
                new Exchange<>("Submit", SubmitRequest.class, SubmitReply.class, ProtobufExchanges::submit),
                new Exchange<>("Upload", UploadRequest.class, UploadReply.class, ProtobufExchanges::upload));
    }

    private static SubmitReply submit(SubmitRequest ask) throws ApplicationError {
        Transfer.checkBatch(ask.getBatch(), ask.getRecordsCount());
        SubmitReply.Builder reply = SubmitReply.newBuilder().setBatch(ask.getBatch());
        int accepted = 0;
        long total = 0;
        for (Record record : ask.getRecordsList()) {
            String reason = Transfer.refusalReason(record.getQuantity(), record.getItem());
            if (reason != null) {
                reply.addRefused(Refusal.newBuilder().setId(record.getId()).setReason(reason));
                continue;
            }
            accepted++;
            total += record.getQuantity();
        }
        return reply.setAccepted(accepted).setQuantityTotal(total).build();
    }

    private static UploadReply upload(UploadRequest ask) throws ApplicationError {
        Transfer.checkUpload(ask.getData().size());
        Digest digest = new Digest();
        digest.add(ask.getData());
        return digest.reply();
    }

    private static List<Exchange<? extends Message, ? extends Message>> chargingExchanges(Charging model) {
        return List.of(
                new Exchange<>("Credit", CreditRequest.class, CreditReply.class,
                        ask -> CreditReply.newBuilder().setCn(model.credit(ask.getId(), ask.getAm())).build()),
                new Exchange<>("DirectDebit", DirectDebitRequest.class, DirectDebitReply.class,
                        ask -> DirectDebitReply.newBuilder()
                                .setCn(model.directDebit(ask.getId(), ask.getAm())).build()),
                new Exchange<>("Reserve", ReserveRequest.class, ReserveReply.class, ask -> {
                    Charging.Reserved made = model.reserve(ask.getId(), ask.getAm());
                    return ReserveReply.newBuilder().setRes(made.reservation()).setCn(made.confirmation()).build();
                }),
                new Exchange<>("DebitReservation", DebitReservationRequest.class, DebitReservationReply.class,
                        ask -> DebitReservationReply.newBuilder()
                                .setCn(model.debitReservation(ask.getId(), ask.getAm(), ask.getRes())).build()),
                new Exchange<>("ReleaseRes", ReleaseResRequest.class, ReleaseResReply.class,
                        ask -> ReleaseResReply.newBuilder().setCn(model.releaseRes(ask.getRes())).build()),
                new Exchange<>("CreditControl", CreditControlRequest.class, CreditControlReply.class, ask -> {
                    Charging.Holding held = model.creditControl(ask.getId());
                    return CreditControlReply.newBuilder()
                            .setBalance(held.balance()).setReserved(held.reserved()).build();
                }),
                new Exchange<>("ConfirmAction", ConfirmActionRequest.class, ConfirmActionReply.class,
                        ask -> ConfirmActionReply.newBuilder().setCn(model.confirmAction(ask.getCn())).build()));
    }

    private static List<Exchange<? extends Message, ? extends Message>> calendar(Calendar model) {
        return List.of(
                new Exchange<>("Deploy", DeployRequest.class, DeployReply.class,
                        ask -> DeployReply.newBuilder().setStatus(model.deploy(ask.getDocument())).build()),
                new Exchange<>("Book", BookRequest.class, BookReply.class, ask -> book(model, ask)),
                new Exchange<>("Entries", EntriesRequest.class, EntriesReply.class, ask -> entries(model, ask)));
    }

    private static BookReply book(Calendar model, BookRequest ask) throws ApplicationError {
        Entry entry = new Entry(ask.getSlot(), ask.getTitle(), ask.getOpen(), ask.getWeight());
        int number = model.book(ask.getOwner(), ask.getDay(), entry, ask.getNote());
        return BookReply.newBuilder().setNumber(number).setOwner(ask.getOwner()).setTitle(ask.getTitle()).build();
    }

    private static EntriesReply entries(Calendar model, EntriesRequest ask) throws ApplicationError {
        EntriesReply.Builder reply = EntriesReply.newBuilder();
        for (Entry entry : model.entries(ask.getOwner(), ask.getDay())) {
            reply.addEntriesBuilder()
                    .setSlot(entry.slot).setTitle(entry.title).setOpen(entry.open).setWeight(entry.weight);
        }
        return reply.build();
    }

    private static List<Exchange<? extends Message, ? extends Message>> records(Records model) {
        return List.of(
                new Exchange<>("Allocate", AllocateRequest.class, AllocateReply.class,
                        ask -> AllocateReply.newBuilder().setMessage(Records.MESSAGE)
                                .setTeamDetails(team(model.allocate(ask.getName(), ask.getId(), ask.getCourseCode())))
                                .build()),
                new Exchange<>("FindAllocation", FindAllocationRequest.class, FindAllocationReply.class,
                        ask -> FindAllocationReply.newBuilder()
                                .setTeamDetails(team(model.find(ask.getGroupId()))).build()),
                new Exchange<>("CountAllocations", CountAllocationsRequest.class, CountAllocationsReply.class,
                        ask -> CountAllocationsReply.newBuilder().setCount(model.count()).build()));
    }

    private static Team.Builder team(RecordsMessages.Team stored) {
        return Team.newBuilder().setMember1(stored.member1).setMember2(stored.member2)
                .setMember1Id(stored.member1id).setMember2Id(stored.member2id)
                .setCourseCode(stored.courseCode).setGroupId(stored.groupId);
    }
}
