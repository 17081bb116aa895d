package wirelab.caller;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** How the calls of a stack are made. Each module has one, found as a service of Java. */
public interface Library {
    /** Axes with the values that it can be, beyond those of every library. */
    Map<String, Set<String>> able();

    /** Where each stamp comes from. */
    Map<String, String> stamps();

    /** A class of each library that makes calls of that stack. */
    List<Class<?>> classes(Target target);

    /** A client for one user. */
    Client client(Target target, Connections connections);

    /** Kind and cause of a failure that is the library's own; null: it is one of the network's. */
    default Failure failure(Throwable error) {
        return null;
    }
}
