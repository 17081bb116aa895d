package wirelab.service.petclinic;

import com.zaxxer.hikari.HikariDataSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import wirelab.service.Binding;
import wirelab.service.Calls;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.contract.Model;
import wirelab.service.contract.Petclinic;
import wirelab.service.petclinic.message.Codecs;
import wirelab.service.petclinic.message.Messages;
import wirelab.service.petclinic.store.Databases;
import wirelab.service.petclinic.store.MemoryRepositories;
import wirelab.service.petclinic.store.Repositories;
import wirelab.service.petclinic.web.WebConfiguration;
import wirelab.service.spring.SpringServer;
import wirelab.service.web.SelfCall;

/** {@code petclinic} over REST, as a Spring Boot application. */
public final class PetclinicBinding implements Binding {
    /** Warns of requests that are refused. */
    private static final Logger WEB = Logger.getLogger("org.springframework.web");

    @Override
    public Running start(Configuration configuration, Model model, Calls calls) throws Refusal {
        return start(configuration, model, calls, new Class<?>[0]);
    }

    /** As above with more parts of the application. */
    public Running start(Configuration configuration, Model model, Calls calls, Class<?>... more) throws Refusal {
        WEB.setLevel(Level.OFF);
        Databases.quieten();
        Messages messages = Codecs.of(configuration);
        HikariDataSource pool = Databases.open(configuration, (Petclinic) model);
        SelfCall.Request own =
                new SelfCall.Request("/petclinic/api/pettypes", Map.of("Accept", messages.mediaType()), null);
        return SpringServer.start(configuration, own, beans -> {
            beans.registerBean(Calls.class, () -> calls);
            beans.registerBean(Messages.class, () -> messages);
            beans.registerBean(ClinicService.class, () -> new ClinicService(beans.getBean(Repositories.class)));
            if (pool == null) {
                beans.registerBean(Repositories.class, MemoryRepositories::new);
            } else {
                beans.registerBean(HikariDataSource.class, () -> pool);
            }
        }, sources(configuration, more));
    }

    private static Class<?>[] sources(Configuration configuration, Class<?>... more) {
        List<Class<?>> sources = new ArrayList<>(List.of(more));
        sources.add(WebConfiguration.class);
        Databases.configuration(configuration).ifPresent(sources::add);
        return sources.toArray(Class<?>[]::new);
    }

    @Override
    public List<String> codecWorkers(Configuration.Stack stack) {
        return Codecs.workers(stack);
    }

    @Override
    public List<String> storeWorkers(Configuration configuration) {
        return Databases.workers(configuration);
    }

    @Override
    public List<String> serverWorkers(Configuration configuration) {
        return Codecs.validators(configuration);
    }
}
