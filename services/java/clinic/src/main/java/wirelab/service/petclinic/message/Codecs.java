package wirelab.service.petclinic.message;

import java.util.List;
import wirelab.service.Configuration;

/** The codecs. */
public final class Codecs {
    private Codecs() {}

    /** The messages of a stack. */
    public static Messages of(Configuration configuration) {
        Limiter limiter = new Limiter(configuration.options().validation().equals("on"));
        boolean mapped = configuration.options().mapper().equals("on");
        if (configuration.stack().codec().equals("protobuf")) {
            return mapped ? new MappedProtobuf(limiter) : new DirectProtobuf(limiter);
        }
        return mapped ? new MappedJson(limiter) : new DirectJson(limiter);
    }

    /** Classes that check requests. */
    public static List<String> validators(Configuration configuration) {
        return configuration.options().validation().equals("on")
                ? List.of("org.hibernate.validator.internal.engine.ValidatorImpl")
                : List.of();
    }

    /** Classes that read and write its messages. */
    public static List<String> workers(Configuration.Stack stack) {
        return stack.codec().equals("json")
                ? List.of("com.fasterxml.jackson.databind.ObjectMapper",
                        "com.fasterxml.jackson.core.json.ReaderBasedJsonParser")
                : List.of("com.google.protobuf.CodedInputStream");
    }
}
