package wirelab.service.iiop;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import wirelab.service.Calls;
import wirelab.service.contract.Transfer;
import wirelab.transfer_v1.ApplicationError;
import wirelab.transfer_v1.HelloBytesReply;
import wirelab.transfer_v1.HelloReply;
import wirelab.transfer_v1.Record;
import wirelab.transfer_v1.Refusal;
import wirelab.transfer_v1.SubmitReply;
import wirelab.transfer_v1.TransferPOA;
import wirelab.transfer_v1.UploadReply;

/** The contract {@code transfer} behind the skeleton that JacORB's compiler made. */
final class TransferServant extends TransferPOA {
    private final Transfer model;
    private final byte[] bytes;
    private final Answering<ApplicationError> calls;

    TransferServant(Transfer model, Calls calls) {
        this.model = model;
        this.bytes = model.text().getBytes(StandardCharsets.US_ASCII);
        this.calls = new Answering<>(calls, ApplicationError::new);
    }

    @Override
    public HelloReply hello() throws ApplicationError {
        return calls.answer("Hello", () -> new HelloReply(model.text()));
    }

    @Override
    public HelloBytesReply helloBytes() throws ApplicationError {
        return calls.answer("HelloBytes", () -> new HelloBytesReply(bytes));
    }

    @Override
    public SubmitReply submit(String batch, Record[] records) throws ApplicationError {
        return calls.answer("Submit", () -> {
            Transfer.checkBatch(batch, records.length);
            List<Refusal> refused = new ArrayList<>();
            SubmitReply reply = new SubmitReply(batch, 0, 0, null);
            for (Record record : records) {
                String reason = Transfer.refusalReason(record.quantity, record.item);
                if (reason != null) {
                    refused.add(new Refusal(record.id, reason));
                    continue;
                }
                reply.accepted++;
                reply.quantity_total += record.quantity;
            }
            reply.refused = refused.toArray(Refusal[]::new);
            return reply;
        });
    }

    @Override
    public UploadReply upload(byte[] data) throws ApplicationError {
        return calls.answer("Upload", () -> {
            Transfer.checkUpload(data.length);
            return new UploadReply(data.length, Transfer.sha256(data));
        });
    }
}
