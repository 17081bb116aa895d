package wirelab.caller.iiop;

import java.util.Properties;
import org.omg.CORBA.ORB;
import wirelab.caller.Client;
import wirelab.caller.Connections;
import wirelab.caller.Stamps;
import wirelab.caller.Target;
import wirelab.transfer_v1.Transfer;
import wirelab.transfer_v1.TransferHelper;

/** The stub of one user, in an ORB of its own: within one, all stubs of an address share a connection. */
final class IiopClient implements Client {
    private final Target target;
    private final ORB orb;
    private Transfer transfer;

    IiopClient(Target target, Connections connections) {
        this.target = target;
        Reports.to(connections);
        orb = ORB.init(new String[0], properties(target));
    }

    private static Properties properties(Target target) {
        String timeoutMs = String.valueOf(Math.max(1, target.timeout().toMillis()));
        Properties properties = new Properties();
        properties.setProperty("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        properties.setProperty("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        properties.setProperty("jacorb.native_char_codeset", "UTF8");
        properties.setProperty("jacorb.native_wchar_codeset", "UTF16");
        properties.setProperty("jacorb.orb.print_version", "off");
        properties.setProperty("jacorb.connection.client.connect_timeout", timeoutMs);
        properties.setProperty("jacorb.connection.client.pending_reply_timeout", timeoutMs);
        // A call that failed is counted, not made again.
        properties.setProperty("jacorb.retries", "0");
        properties.setProperty("jacorb.maxBuiltinRetries", "0");
        properties.setProperty("jacorb.net.tcp_listener", Reports.Sockets.class.getName());
        properties.setProperty("jacorb.connection.statistics_providers", Reports.Messages.class.getName());
        return properties;
    }

    @Override
    public void call(Stamps at) throws Exception {
        if (transfer == null) {
            // Unchecked: JacORB would ask the service whether it is a Transfer, where the reference does not say.
            transfer = TransferHelper.unchecked_narrow(orb.string_to_object(target.object()));
        }
        Reports.of(at);
        at.sent();
        try {
            if (target.isBytes()) {
                target.compare(transfer.helloBytes().text);
            } else {
                target.compare(transfer.hello().text);
            }
        } finally {
            Reports.of(null);
            if (target.closes()) {
                // The last reference of a connection takes it along.
                transfer._release();
                transfer = null;
            }
        }
    }

    @Override
    public void close() {
        orb.shutdown(false);
    }
}
