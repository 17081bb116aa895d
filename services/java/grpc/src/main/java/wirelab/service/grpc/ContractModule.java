package wirelab.service.grpc;

import com.google.protobuf.Message;
import java.util.List;
import java.util.ServiceLoader;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Model;

/** The operations of a contract that is in a module of its own, with its libraries; found by {@link ServiceLoader}. */
public interface ContractModule {
    /** The module on the class path; null where contracts need none. */
    static ContractModule loadInstalled() {
        return ServiceLoader.load(ContractModule.class).findFirst().orElse(null);
    }

    /** Opens what the operations need, which ends with the model; refuses a database that cannot be used. */
    List<Exchange<? extends Message, ? extends Message>> open(Configuration configuration, Model model)
            throws Refusal;

    /** As {@link wirelab.service.Binding#serverWorkers}. */
    List<String> serverWorkers(Configuration configuration);

    /** As {@link wirelab.service.Binding#storeWorkers}. */
    List<String> storeWorkers(Configuration configuration);
}
