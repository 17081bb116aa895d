package wirelab.service.rest;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.xml.stream.XMLInputFactory;
import org.msgpack.jackson.dataformat.MessagePackFactory;
import wirelab.service.Binding;
import wirelab.service.contract.Model;

/**
 * The codecs of REST: one row each. {@code service.json} states which of them are offered.
 *
 * @param name the value of the axis {@code codec}
 * @param factory makes the codec for a contract
 * @param workers classes that work for every call, whose libraries the ready line names; what a
 *     factory chooses is asked of the factory
 */
record Codecs(String name, Function<Model, Codec> factory, List<Supplier<String>> workers) {
    private static final Supplier<String> JACKSON = () -> "com.fasterxml.jackson.databind.ObjectMapper";

    private static final List<Codecs> TABLE = List.of(
            new Codecs("text", model -> new TextCodec(), List.of(() -> Binding.OWN)),
            new Codecs(
                    "json",
                    model -> new JacksonCodec("application/json", new JsonFactory()),
                    List.of(JACKSON, () -> "com.fasterxml.jackson.core.json.ReaderBasedJsonParser")),
            new Codecs(
                    "protobuf",
                    model -> new ProtobufCodec(),
                    List.of(() -> "com.google.protobuf.CodedInputStream")),
            new Codecs(
                    "xml",
                    XmlCodec::new,
                    List.of(
                            () -> "org.glassfish.jaxb.runtime.v2.runtime.JAXBContextImpl",
                            () -> XMLInputFactory.newDefaultFactory().getClass().getName())),
            new Codecs(
                    "cbor",
                    model -> new JacksonCodec("application/cbor", new CBORFactory()),
                    List.of(JACKSON, () -> "com.fasterxml.jackson.dataformat.cbor.CBORParser")),
            new Codecs(
                    "msgpack",
                    model -> new JacksonCodec("application/vnd.msgpack", new MessagePackFactory()),
                    List.of(JACKSON, () -> "org.msgpack.jackson.dataformat.MessagePackParser")),
            new Codecs("avro", AvroCodec::new, List.of(() -> "org.apache.avro.reflect.ReflectDatumReader")));

    /** The names of all rows. */
    static List<String> names() {
        return TABLE.stream().map(Codecs::name).toList();
    }

    /** The row of that name. */
    static Codecs of(String name) {
        return TABLE.stream()
                .filter(row -> row.name.equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "Codecs has no row for codec " + name + ": add it, or remove it from service.json"));
    }

    /** The codec of that name for a contract. */
    static Codec codec(String name, Model model) {
        return of(name).factory.apply(model);
    }
}
