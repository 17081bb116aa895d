package wirelab.service.rest;

import java.util.Map;
import wirelab.calendar.v1.EntriesRequest;
import wirelab.charging.v1.CreditControlRequest;
import wirelab.service.contract.Model;
import wirelab.service.contract.message.CalendarMessages;
import wirelab.service.contract.message.ChargingMessages;
import wirelab.service.web.SelfCall;

/** A request that changes nothing, for the service's call to itself. */
final class OwnRequest {
    private OwnRequest() {}

    static SelfCall.Request of(Model model, Codec codec) {
        if (model.contract().equals("transfer")) {
            return new SelfCall.Request("/transfer/hello", Map.of("Accept", codec.mediaTypes().get(0)), null);
        }
        boolean charging = model.contract().equals("charging");
        boolean protobuf = codec instanceof ProtobufCodec;
        byte[] body = codec.write(charging
                ? protobuf ? CreditControlRequest.newBuilder().setId(1).build() : creditControl()
                : protobuf ? EntriesRequest.newBuilder().setOwner("self").setDay(1).build() : entries());
        return new SelfCall.Request(
                Operations.path(model, charging ? "CreditControl" : "Entries"),
                Map.of("Content-Type", codec.mediaTypes().get(0)), body);
    }

    private static Object creditControl() {
        ChargingMessages.CreditControlRequest ask = new ChargingMessages.CreditControlRequest();
        ask.id = 1;
        return ask;
    }

    private static Object entries() {
        CalendarMessages.EntriesRequest ask = new CalendarMessages.EntriesRequest();
        ask.owner = "self";
        ask.day = 1;
        return ask;
    }
}
