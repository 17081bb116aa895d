package wirelab.parse;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.google.protobuf.CodedInputStream;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jacorb.orb.CDRInputStream;
import wirelab.charging.v1.ConfirmActionRequest;
import wirelab.charging.v1.CreditControlRequest;
import wirelab.charging.v1.CreditRequest;
import wirelab.charging.v1.DebitReservationRequest;
import wirelab.charging.v1.DirectDebitRequest;
import wirelab.charging.v1.ReleaseResRequest;
import wirelab.charging.v1.ReserveRequest;
import wirelab.parse.MessageParser.Decoder;
import wirelab.service.contract.message.ChargingMessages;
import wirelab.service.contract.message.StrictJackson;

/** The formats other than XML, by the libraries and the classes of messages that the services use. */
final class Formats {
    private Formats() {}

    /** JSON and CBOR by Jackson. */
    static Parser jackson(JsonFactory format) {
        ObjectMapper mapper = StrictJackson.builder(format).build();
        return new MessageParser(format.getClass(), Map.of(
                "reserve", jackson(mapper, ChargingMessages.ReserveRequest.class, (message, fields) -> {
                    fields.field("id", message.id);
                    fields.field("am", message.am);
                }),
                "debitReservation", jackson(mapper, ChargingMessages.DebitReservationRequest.class, (message, fields) -> {
                    fields.field("id", message.id);
                    fields.field("am", message.am);
                    fields.field("res", message.res);
                }),
                "directDebit", jackson(mapper, ChargingMessages.DirectDebitRequest.class, (message, fields) -> {
                    fields.field("id", message.id);
                    fields.field("am", message.am);
                }),
                "creditControl", jackson(mapper, ChargingMessages.CreditControlRequest.class,
                        (message, fields) -> fields.field("id", message.id)),
                "credit", jackson(mapper, ChargingMessages.CreditRequest.class, (message, fields) -> {
                    fields.field("id", message.id);
                    fields.field("am", message.am);
                }),
                "releaseRes", jackson(mapper, ChargingMessages.ReleaseResRequest.class,
                        (message, fields) -> fields.field("res", message.res)),
                "confirmAction", jackson(mapper, ChargingMessages.ConfirmActionRequest.class,
                        (message, fields) -> fields.field("cn", message.cn))));
    }

    private static <T> Decoder jackson(ObjectMapper mapper, Class<T> type, BiConsumer<T, Fields> fields) {
        ObjectReader reader = mapper.readerFor(type);
        return (document, into) -> fields.accept(reader.readValue(document), into);
    }

    /** Protobuf by the classes that protoc makes. */
    static Parser protobuf() {
        return new MessageParser(CodedInputStream.class, Map.of(
                "reserve", (document, fields) -> {
                    ReserveRequest message = ReserveRequest.parseFrom(document);
                    fields.field("id", message.getId());
                    fields.field("am", message.getAm());
                },
                "debitReservation", (document, fields) -> {
                    DebitReservationRequest message = DebitReservationRequest.parseFrom(document);
                    fields.field("id", message.getId());
                    fields.field("am", message.getAm());
                    fields.field("res", message.getRes());
                },
                "directDebit", (document, fields) -> {
                    DirectDebitRequest message = DirectDebitRequest.parseFrom(document);
                    fields.field("id", message.getId());
                    fields.field("am", message.getAm());
                },
                "creditControl", (document, fields) ->
                        fields.field("id", CreditControlRequest.parseFrom(document).getId()),
                "credit", (document, fields) -> {
                    CreditRequest message = CreditRequest.parseFrom(document);
                    fields.field("id", message.getId());
                    fields.field("am", message.getAm());
                },
                "releaseRes", (document, fields) ->
                        fields.field("res", ReleaseResRequest.parseFrom(document).getRes()),
                "confirmAction", (document, fields) ->
                        fields.field("cn", ConfirmActionRequest.parseFrom(document).getCn())));
    }

    /** CDR by JacORB, big-endian as the ORB writes it: parameters of an operation have no structure. */
    static Parser cdr() {
        return new MessageParser(CDRInputStream.class, Map.of(
                "reserve", longs("id", "am"),
                "debitReservation", longs("id", "am", "res"),
                "directDebit", longs("id", "am"),
                "creditControl", longs("id"),
                "credit", longs("id", "am"),
                "releaseRes", longs("res"),
                "confirmAction", longs("cn")));
    }

    private static Decoder longs(String... names) {
        return (document, fields) -> {
            try (CDRInputStream in = new CDRInputStream(document)) {
                for (String name : names) {
                    fields.field(name, in.read_long());
                }
            }
        };
    }
}
