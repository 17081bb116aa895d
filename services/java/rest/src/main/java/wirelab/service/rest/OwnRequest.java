package wirelab.service.rest;

import java.util.Map;
import wirelab.calendar.v1.EntriesRequest;
import wirelab.charging.v1.CreditControlRequest;
import wirelab.records.v1.CountAllocationsRequest;
import wirelab.service.contract.Model;
import wirelab.service.contract.message.CalendarMessages;
import wirelab.service.contract.message.ChargingMessages;
import wirelab.service.contract.message.RecordsMessages;
import wirelab.service.contract.message.StreamMessages;
import wirelab.service.web.SelfCall;

/** A request that changes nothing, for the service's call to itself. */
final class OwnRequest {
    private OwnRequest() {}

    static SelfCall.Request of(Model model, Codec codec) {
        boolean protobuf = codec instanceof ProtobufCodec;
        return switch (model.contract()) {
            case "transfer" ->
                    new SelfCall.Request("/transfer/hello", Map.of("Accept", codec.mediaTypes().get(0)), null);
            case "charging" -> post(model, codec, "CreditControl",
                    protobuf ? CreditControlRequest.newBuilder().setId(1).build() : creditControl());
            case "records" -> post(model, codec, "CountAllocations", protobuf
                    ? CountAllocationsRequest.getDefaultInstance()
                    : new RecordsMessages.CountAllocationsRequest());
            case "stream" -> post(model, codec, "Feed", feed());
            default -> post(model, codec, "Entries",
                    protobuf ? EntriesRequest.newBuilder().setOwner("self").setDay(1).build() : entries());
        };
    }

    private static SelfCall.Request post(Model model, Codec codec, String operation, Object message) {
        return new SelfCall.Request(Operations.path(model, operation),
                Map.of("Content-Type", codec.mediaTypes().get(0)), codec.write(message));
    }

    private static Object creditControl() {
        ChargingMessages.CreditControlRequest ask = new ChargingMessages.CreditControlRequest();
        ask.id = 1;
        return ask;
    }

    private static Object feed() {
        StreamMessages.FeedRequest ask = new StreamMessages.FeedRequest();
        ask.count = 1;
        ask.pattern = "constant";
        return ask;
    }

    private static Object entries() {
        CalendarMessages.EntriesRequest ask = new CalendarMessages.EntriesRequest();
        ask.owner = "self";
        ask.day = 1;
        return ask;
    }
}
