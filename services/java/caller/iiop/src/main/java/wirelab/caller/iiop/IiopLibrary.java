package wirelab.caller.iiop;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jacorb.orb.ORB;
import org.omg.CORBA.COMM_FAILURE;
import org.omg.CORBA.MARSHAL;
import org.omg.CORBA.SystemException;
import org.omg.CORBA.TIMEOUT;
import org.omg.CORBA.TRANSIENT;
import org.omg.CORBA.UserException;
import wirelab.caller.Client;
import wirelab.caller.Connections;
import wirelab.caller.Failure;
import wirelab.caller.Library;
import wirelab.caller.Target;
import wirelab.transfer_v1.ApplicationError;

/** The stubs of JacORB's IDL compiler on JacORB. */
public final class IiopLibrary implements Library {
    @Override
    public Map<String, Set<String>> able() {
        return Map.of(
                "binding", Set.of("iiop"), "codec", Set.of("cdr"), "transport", Set.of("tcp"),
                "byte_order", Set.of("big"), "connection", Set.of("keep", "close"));
    }

    @Override
    public Map<String, String> stamps() {
        return Map.of(
                "intended", "schedule",
                "sent", "the stub was called",
                "flushed", "StatisticsProvider.flushed",
                "first_byte", "unavailable",
                "done", "the stub returned");
    }

    @Override
    public List<Class<?>> classes(Target target) {
        return List.of(ORB.class);
    }

    @Override
    public Client client(Target target, Connections connections) {
        connections.report();
        return new IiopClient(target, connections);
    }

    @Override
    public Failure failure(Throwable error) {
        if (error instanceof ApplicationError refused) {
            return Failure.application(refused.message);
        }
        if (error instanceof TIMEOUT) {
            return Failure.timeout(error.toString());
        }
        if (error instanceof TRANSIENT) {
            return Failure.refused(error.toString());
        }
        if (error instanceof COMM_FAILURE) {
            return Failure.closed(error.toString());
        }
        if (error instanceof MARSHAL) {
            return Failure.wrong("the reply cannot be decoded: " + error);
        }
        return error instanceof SystemException || error instanceof UserException
                ? Failure.application(error.toString())
                : null;
    }
}
