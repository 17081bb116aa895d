package wirelab.service.iiop;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import org.omg.CORBA.ORB;
import org.omg.CORBA.SystemException;
import org.omg.PortableServer.POA;
import wirelab.calendar_v1.CalendarHelper;
import wirelab.charging_v1.ChargingHelper;
import wirelab.service.Address;
import wirelab.service.Binding;
import wirelab.service.Configuration;
import wirelab.service.contract.Model;
import wirelab.transfer_v1.TransferHelper;

/** A running ORB. */
record IiopServer(Configuration configuration, ORB orb, POA root, String ior, Model model)
        implements Binding.Running {

    @Override
    public String address() {
        return Address.withPort(configuration.listen(), ListeningSockets.port());
    }

    @Override
    public Map<String, Object> set() {
        Map<String, Object> set = new LinkedHashMap<>();
        // Of the service's call to itself.
        set.put("nagle", ListeningSockets.nagle());
        set.put("threads_max", IiopBinding.THREADS_MAX);
        set.put("char_codeset", "UTF-8");
        return set;
    }

    /** By an ORB of its own: within one, JacORB would call the object without a message. */
    @Override
    public void callSelf() throws IOException {
        Properties properties = IiopBinding.common();
        ORB caller = ORB.init(new String[0], properties);
        try {
            call(caller.string_to_object(ior));
        } catch (SystemException error) {
            throw new IOException("the service could not call itself: " + error, error);
        } finally {
            caller.shutdown(true);
        }
    }

    private void call(org.omg.CORBA.Object object) throws IOException {
        try {
            switch (model.contract()) {
                case "transfer" -> TransferHelper.narrow(object).hello();
                case "charging" -> ChargingHelper.narrow(object).creditControl(1);
                default -> CalendarHelper.narrow(object).entries("self", 1);
            }
        } catch (wirelab.charging_v1.ApplicationError withoutAccounts) {
            // An answer too.
            return;
        } catch (wirelab.transfer_v1.ApplicationError | wirelab.calendar_v1.ApplicationError error) {
            throw new IOException("the service refused its own call", error);
        }
    }

    @Override
    public void stop(long graceMs) {
        Thread end = new Thread(() -> orb.shutdown(true), "orb-shutdown");
        end.setDaemon(true);
        end.start();
        try {
            end.join(graceMs);
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
        }
    }
}
