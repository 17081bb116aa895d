package wirelab.service;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import wirelab.service.contract.Model;

/** How a module of this project puts a contract on the wire; found by {@link java.util.ServiceLoader}. */
public interface Binding {
    /** Names code of this project among libraries, where no maintained library does the work. */
    String OWN = "lab's own";

    /** The module on the class path; each service process has one. */
    static Binding loadInstalled() {
        return ServiceLoader.load(Binding.class)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no module of a binding is on the class path"));
    }

    /** Codecs that carry every message, for entries of {@code service.json} that state none. */
    default List<String> fullCodecs() {
        return List.of();
    }

    /**
     * Classes that encode and decode messages of a stack, or {@link #OWN}; empty where the stack's
     * codec is part of the binding's own table in {@code Libraries}.
     */
    default List<String> codecWorkers(Configuration.Stack stack) {
        return List.of();
    }

    /** Classes that serve every call of a contract between wire and store, in addition to the table's. */
    default List<String> serverWorkers(Configuration configuration) {
        return List.of();
    }

    /** Classes that work for every call between the contract and the driver of its database. */
    default List<String> storeWorkers(Configuration configuration) {
        return List.of();
    }

    /**
     * Starts to serve. Throws {@link Refusal} for what only the library could find out, such as a
     * port that is taken.
     */
    Running start(Configuration configuration, Model model, Calls calls) throws Refusal, IOException;

    /** A stack that serves. */
    interface Running {
        /** {@code 127.0.0.1:43210} or {@code unix:/path}. */
        String address();

        /** What was actually set, read back where the library or the kernel can be asked. */
        Map<String, Object> set();

        /** The object reference, with iiop; else null. */
        default String ior() {
            return null;
        }

        /** Makes one call that changes nothing over the service's own address. */
        void callSelf() throws IOException;

        /** Takes no more calls and returns when those in flight have ended, or after the grace. */
        void stop(long graceMs);
    }
}
