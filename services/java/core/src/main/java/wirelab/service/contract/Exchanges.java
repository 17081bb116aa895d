package wirelab.service.contract;

import java.nio.charset.StandardCharsets;
import java.util.List;
import wirelab.service.contract.message.CalendarMessages.BookReply;
import wirelab.service.contract.message.CalendarMessages.BookRequest;
import wirelab.service.contract.message.CalendarMessages.DeployReply;
import wirelab.service.contract.message.CalendarMessages.DeployRequest;
import wirelab.service.contract.message.CalendarMessages.EntriesReply;
import wirelab.service.contract.message.CalendarMessages.EntriesRequest;
import wirelab.service.contract.message.CalendarMessages.Entry;
import wirelab.service.contract.message.ChargingMessages.ConfirmActionReply;
import wirelab.service.contract.message.ChargingMessages.ConfirmActionRequest;
import wirelab.service.contract.message.ChargingMessages.CreditControlReply;
import wirelab.service.contract.message.ChargingMessages.CreditControlRequest;
import wirelab.service.contract.message.ChargingMessages.CreditReply;
import wirelab.service.contract.message.ChargingMessages.CreditRequest;
import wirelab.service.contract.message.ChargingMessages.DebitReservationReply;
import wirelab.service.contract.message.ChargingMessages.DebitReservationRequest;
import wirelab.service.contract.message.ChargingMessages.DirectDebitReply;
import wirelab.service.contract.message.ChargingMessages.DirectDebitRequest;
import wirelab.service.contract.message.ChargingMessages.ReleaseResReply;
import wirelab.service.contract.message.ChargingMessages.ReleaseResRequest;
import wirelab.service.contract.message.ChargingMessages.ReserveReply;
import wirelab.service.contract.message.ChargingMessages.ReserveRequest;
import wirelab.service.contract.message.RecordsMessages.AllocateReply;
import wirelab.service.contract.message.RecordsMessages.AllocateRequest;
import wirelab.service.contract.message.RecordsMessages.CountAllocationsReply;
import wirelab.service.contract.message.RecordsMessages.CountAllocationsRequest;
import wirelab.service.contract.message.RecordsMessages.FindAllocationReply;
import wirelab.service.contract.message.RecordsMessages.FindAllocationRequest;
import wirelab.service.contract.message.TransferMessages.HelloBytesReply;
import wirelab.service.contract.message.TransferMessages.HelloReply;
import wirelab.service.contract.message.TransferMessages.HelloRequest;
import wirelab.service.contract.message.TransferMessages.Record;
import wirelab.service.contract.message.TransferMessages.Refusal;
import wirelab.service.contract.message.TransferMessages.SubmitReply;
import wirelab.service.contract.message.TransferMessages.SubmitRequest;
import wirelab.service.contract.message.TransferMessages.UploadReply;
import wirelab.service.contract.message.TransferMessages.UploadRequest;

/** The contracts' unary operations over the plain message classes. */
public final class Exchanges {
    private Exchanges() {}

    /** The operations of a model; streams are not among them. */
    public static List<Exchange<?, ?>> of(Model model) {
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

    private static List<Exchange<?, ?>> transfer(Transfer model) {
        byte[] bytes = model.text().getBytes(StandardCharsets.US_ASCII);
        return List.of(
                new Exchange<>("Hello", HelloRequest.class, HelloReply.class, ask -> new HelloReply(model.text())),
                new Exchange<>("HelloBytes", HelloRequest.class, HelloBytesReply.class,
                        ask -> new HelloBytesReply(bytes)),
                new Exchange<>("Submit", SubmitRequest.class, SubmitReply.class, Exchanges::submit),
                new Exchange<>("Upload", UploadRequest.class, UploadReply.class, Exchanges::upload));
    }

    private static SubmitReply submit(SubmitRequest ask) throws ApplicationError {
        Transfer.checkBatch(ask.batch, ask.records.size());
        SubmitReply reply = new SubmitReply();
        reply.batch = ask.batch;
        for (Record record : ask.records) {
            String reason = Transfer.refusalReason(record.quantity, record.item);
            if (reason != null) {
                reply.refused.add(new Refusal(record.id, reason));
                continue;
            }
            reply.accepted++;
            reply.quantity_total += record.quantity;
        }
        return reply;
    }

    private static UploadReply upload(UploadRequest ask) throws ApplicationError {
        Transfer.checkUpload(ask.data.length);
        return new UploadReply(ask.data.length, Transfer.sha256(ask.data));
    }

    private static List<Exchange<?, ?>> chargingExchanges(Charging model) {
        return List.of(
                new Exchange<>("Credit", CreditRequest.class, CreditReply.class,
                        ask -> new CreditReply(model.credit(ask.id, ask.am))),
                new Exchange<>("DirectDebit", DirectDebitRequest.class, DirectDebitReply.class,
                        ask -> new DirectDebitReply(model.directDebit(ask.id, ask.am))),
                new Exchange<>("Reserve", ReserveRequest.class, ReserveReply.class, ask -> {
                    Charging.Reserved made = model.reserve(ask.id, ask.am);
                    return new ReserveReply(made.reservation(), made.confirmation());
                }),
                new Exchange<>("DebitReservation", DebitReservationRequest.class, DebitReservationReply.class,
                        ask -> new DebitReservationReply(model.debitReservation(ask.id, ask.am, ask.res))),
                new Exchange<>("ReleaseRes", ReleaseResRequest.class, ReleaseResReply.class,
                        ask -> new ReleaseResReply(model.releaseRes(ask.res))),
                new Exchange<>("CreditControl", CreditControlRequest.class, CreditControlReply.class, ask -> {
                    Charging.Holding held = model.creditControl(ask.id);
                    return new CreditControlReply(held.balance(), held.reserved());
                }),
                new Exchange<>("ConfirmAction", ConfirmActionRequest.class, ConfirmActionReply.class,
                        ask -> new ConfirmActionReply(model.confirmAction(ask.cn))));
    }

    private static List<Exchange<?, ?>> calendar(Calendar model) {
        return List.of(
                new Exchange<>("Deploy", DeployRequest.class, DeployReply.class,
                        ask -> new DeployReply(model.deploy(ask.document))),
                new Exchange<>("Book", BookRequest.class, BookReply.class, ask -> {
                    Entry entry = new Entry(ask.slot, ask.title, ask.open, ask.weight);
                    return new BookReply(model.book(ask.owner, ask.day, entry, ask.note), ask.owner, ask.title);
                }),
                new Exchange<>("Entries", EntriesRequest.class, EntriesReply.class,
                        ask -> new EntriesReply(model.entries(ask.owner, ask.day))));
    }

    private static List<Exchange<?, ?>> records(Records model) {
        return List.of(
                new Exchange<>("Allocate", AllocateRequest.class, AllocateReply.class,
                        ask -> new AllocateReply(Records.MESSAGE, model.allocate(ask.name, ask.id, ask.courseCode))),
                new Exchange<>("FindAllocation", FindAllocationRequest.class, FindAllocationReply.class,
                        ask -> new FindAllocationReply(model.find(ask.groupId))),
                new Exchange<>("CountAllocations", CountAllocationsRequest.class, CountAllocationsReply.class,
                        ask -> new CountAllocationsReply(model.count())));
    }
}
