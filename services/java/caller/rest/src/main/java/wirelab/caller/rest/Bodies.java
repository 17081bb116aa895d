package wirelab.caller.rest;

import com.google.protobuf.Message;
import java.util.Map;
import java.util.Set;
import org.springframework.web.client.RestClient.RequestHeadersSpec.ConvertibleClientHttpResponse;
import wirelab.caller.Call;
import wirelab.caller.protobuf.Messages;
import wirelab.service.contract.message.CalendarMessages;
import wirelab.service.contract.message.ChargingMessages;
import wirelab.service.contract.message.RecordsMessages;
import wirelab.service.contract.message.TransferMessages;

/** The classes that Spring's converter of a codec writes and reads. */
interface Bodies {
    /** By operation, what a reply is in JSON. */
    Map<String, Class<?>> REPLIES = Map.ofEntries(
            Map.entry("Hello", TransferMessages.HelloReply.class),
            Map.entry("HelloBytes", TransferMessages.HelloBytesReply.class),
            Map.entry("Submit", TransferMessages.SubmitReply.class),
            Map.entry("Upload", TransferMessages.UploadReply.class),
            Map.entry("Credit", ChargingMessages.CreditReply.class),
            Map.entry("DirectDebit", ChargingMessages.DirectDebitReply.class),
            Map.entry("Reserve", ChargingMessages.ReserveReply.class),
            Map.entry("DebitReservation", ChargingMessages.DebitReservationReply.class),
            Map.entry("ReleaseRes", ChargingMessages.ReleaseResReply.class),
            Map.entry("CreditControl", ChargingMessages.CreditControlReply.class),
            Map.entry("ConfirmAction", ChargingMessages.ConfirmActionReply.class),
            Map.entry("Deploy", CalendarMessages.DeployReply.class),
            Map.entry("Book", CalendarMessages.BookReply.class),
            Map.entry("Entries", CalendarMessages.EntriesReply.class),
            Map.entry("Allocate", RecordsMessages.AllocateReply.class),
            Map.entry("FindAllocation", RecordsMessages.FindAllocationReply.class),
            Map.entry("CountAllocations", RecordsMessages.CountAllocationsReply.class));

    /** The body of a request. */
    Object request(Call call, Object request);

    /** The reply as a message of the contract; null: the body has none. */
    Object reply(Call call, ConvertibleClientHttpResponse response);

    /** The operations that have bodies. */
    Set<String> operations();

    /** Of a codec of the plan. */
    static Bodies of(String codec) {
        return switch (codec) {
            case "json" -> new Json();
            case "protobuf" -> new Protobuf();
            default -> new Text();
        };
    }

    /** Jackson writes and reads the contract's messages as they are. */
    final class Json implements Bodies {
        @Override
        public Object request(Call call, Object request) {
            return request;
        }

        @Override
        public Object reply(Call call, ConvertibleClientHttpResponse response) {
            return response.bodyTo(REPLIES.get(call.operation()));
        }

        @Override
        public Set<String> operations() {
            return REPLIES.keySet();
        }
    }

    /** Classes that protoc generated. */
    final class Protobuf implements Bodies {
        @Override
        public Object request(Call call, Object request) {
            return Messages.ALL.get(call.operation()).requestOf(request);
        }

        @Override
        public Object reply(Call call, ConvertibleClientHttpResponse response) {
            Messages.Form<?, ?, ?> form = Messages.ALL.get(call.operation());
            Message reply = response.bodyTo(form.replyClass());
            return reply == null ? null : form.replyOf(reply);
        }

        @Override
        public Set<String> operations() {
            return Messages.ALL.keySet();
        }
    }

    /** Codec text has replies to Hello alone. */
    final class Text implements Bodies {
        @Override
        public Object request(Call call, Object request) {
            throw new IllegalStateException("Hello has no body");
        }

        @Override
        public Object reply(Call call, ConvertibleClientHttpResponse response) {
            String text = response.bodyTo(String.class);
            return new TransferMessages.HelloReply(text == null ? "" : text);
        }

        @Override
        public Set<String> operations() {
            return Set.of("Hello");
        }
    }
}
