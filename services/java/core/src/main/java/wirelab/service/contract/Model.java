package wirelab.service.contract;

import java.util.List;
import java.util.Locale;

/** A contract without a wire. */
public sealed interface Model extends AutoCloseable permits Transfer, Charging, Calendar, Records, Petclinic, Stream {
    /** The contract's name, {@code transfer} for example. */
    default String contract() {
        return service().toLowerCase(Locale.ROOT);
    }

    /** The name of the service in the contract's .proto. */
    default String service() {
        return getClass().getSimpleName();
    }

    /** The operations in the order of the .proto. */
    List<String> operations();

    /** The namespace of its XML. */
    default String namespace() {
        return "urn:wirelab:" + contract() + ":v1";
    }

    /** The pool of its database; null without a database. */
    default StorePool pool() {
        return null;
    }

    @Override
    default void close() {}
}
