package wirelab.service.iiop;

import java.net.BindException;
import java.util.Properties;
import org.omg.CORBA.ORB;
import org.omg.CORBA.SystemException;
import org.omg.CORBA.UserException;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;
import org.omg.PortableServer.Servant;
import wirelab.service.Address;
import wirelab.service.Binding;
import wirelab.service.Calls;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.contract.Calendar;
import wirelab.service.contract.Charging;
import wirelab.service.contract.Model;
import wirelab.service.contract.Transfer;

/** CORBA over IIOP on JacORB. */
public final class IiopBinding implements Binding {
    /** JacORB's own 20 would bound the calls in flight, and its queue of 100 would refuse the next. */
    static final int THREADS_MAX = 200;

    private static final int QUEUE_MAX = 100_000;

    @Override
    public Running start(Configuration configuration, Model model, Calls calls) throws Refusal {
        ListeningSockets.prepare(configuration.socket(), calls);
        ORB orb = ORB.init(new String[0], server(configuration));
        try {
            POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
            root.the_POAManager().activate();
            String ior = orb.object_to_string(root.servant_to_reference(servant(model, calls)));
            return new IiopServer(configuration, orb, root, ior, model);
        } catch (UserException | SystemException failure) {
            orb.shutdown(false);
            throw new Refusal("listen", configuration.listen() + ": " + cause(failure),
                    "use port 0, or a free port");
        }
    }

    private static Throwable cause(Throwable failure) {
        return failure instanceof BindException || failure.getCause() == null ? failure : cause(failure.getCause());
    }

    private static Servant servant(Model model, Calls calls) {
        if (model instanceof Transfer transfer) {
            return new TransferServant(transfer, calls);
        }
        return model instanceof Charging charging
                ? new ChargingServant(charging, calls)
                : new CalendarServant((Calendar) model, calls);
    }

    private static Properties server(Configuration configuration) {
        String listen = configuration.listen();
        Properties properties = common();
        properties.setProperty("OAIAddr", Address.internet(listen).getAddress().getHostAddress());
        properties.setProperty("OAPort", String.valueOf(Address.internet(listen).getPort()));
        properties.setProperty("jacorb.net.server_socket_factory", ListeningSockets.class.getName());
        properties.setProperty("jacorb.buffermanager.factory", BoundedBuffers.class.getName());
        properties.setProperty("jacorb.poa.thread_pool_max", String.valueOf(THREADS_MAX));
        properties.setProperty("jacorb.poa.queue_max", String.valueOf(QUEUE_MAX));
        return properties;
    }

    /** What server and client share. */
    static Properties common() {
        Properties properties = new Properties();
        properties.setProperty("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        properties.setProperty("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        properties.setProperty("jacorb.native_char_codeset", "UTF8");
        properties.setProperty("jacorb.native_wchar_codeset", "UTF16");
        properties.setProperty("jacorb.orb.print_version", "off");
        // ORBs of one process would exchange messages without a socket.
        properties.setProperty("jacorb.iiop.enable_loopback", "off");
        return properties;
    }
}
