package wirelab.service.petclinic.grpc;

import com.google.protobuf.Message;
import com.zaxxer.hikari.HikariDataSource;
import java.util.List;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Model;
import wirelab.service.contract.Petclinic;
import wirelab.service.grpc.ContractModule;
import wirelab.service.petclinic.ClinicService;
import wirelab.service.petclinic.message.Codecs;
import wirelab.service.petclinic.store.Databases;
import wirelab.service.petclinic.store.MemoryRepositories;
import wirelab.service.petclinic.store.Repositories;
import wirelab.service.store.ConnectionPool;

/** {@code petclinic} over gRPC: its tables in a Spring context without a web server. */
public final class ClinicModule implements ContractModule {
    @Override
    public List<Exchange<? extends Message, ? extends Message>> open(Configuration configuration, Model model)
            throws Refusal {
        Databases.quieten();
        Petclinic petclinic = (Petclinic) model;
        HikariDataSource pool = Databases.open(configuration, petclinic);
        Repositories rows = pool == null ? new MemoryRepositories() : rows(configuration, petclinic, pool);
        return ClinicExchanges.of(new ClinicService(rows), Codecs.of(configuration));
    }

    private static Repositories rows(Configuration configuration, Petclinic model, HikariDataSource pool) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.registerBean(Configuration.class, () -> configuration);
        context.registerBean(HikariDataSource.class, () -> pool);
        context.register(Databases.configuration(configuration).orElseThrow());
        context.refresh();
        // Closes the pool, too.
        model.keeps(ConnectionPool.toStorePool(pool), context::close);
        return context.getBean(Repositories.class);
    }

    @Override
    public List<String> serverWorkers(Configuration configuration) {
        return Codecs.validators(configuration);
    }

    @Override
    public List<String> storeWorkers(Configuration configuration) {
        return Databases.workers(configuration);
    }
}
