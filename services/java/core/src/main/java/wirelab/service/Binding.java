package wirelab.service;

import java.io.IOException;
import java.util.Map;
import wirelab.service.contract.Model;

/** How a module of this project puts a contract on the wire; found by {@link java.util.ServiceLoader}. */
public interface Binding {

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
