package wirelab.service.petclinic;

import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.connector.Connector;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.web.embedded.tomcat.TomcatWebServer;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
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
import wirelab.service.web.Connectors;
import wirelab.service.web.Drain;
import wirelab.service.web.SelfCall;

/** {@code petclinic} over REST, as a Spring Boot application. */
public final class PetclinicBinding implements Binding {
    /** Warns of requests that are refused. */
    private static final Logger WEB = Logger.getLogger("org.springframework.web");

    @Override
    public Running start(Configuration configuration, Model model, Calls calls) throws Refusal {
        // Spring logs by java.util.logging, to standard error, from warnings on.
        System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
        WEB.setLevel(Level.OFF);
        Databases.quieten();
        Messages messages = Codecs.of(configuration);
        HikariDataSource pool = Databases.open(configuration, (Petclinic) model);
        SpringApplication application = new SpringApplication(sources(configuration));
        application.setWebApplicationType(WebApplicationType.SERVLET);
        application.setBannerMode(Banner.Mode.OFF);
        application.setLogStartupInfo(false);
        application.setRegisterShutdownHook(false);
        application.setDefaultProperties(Map.of("spring.web.resources.add-mappings", "false"));
        application.addInitializers(context -> {
            GenericApplicationContext beans = (GenericApplicationContext) context;
            beans.registerBean(Configuration.class, () -> configuration);
            beans.registerBean(Calls.class, () -> calls);
            beans.registerBean(Messages.class, () -> messages);
            beans.registerBean(ClinicService.class, () -> new ClinicService(beans.getBean(Repositories.class)));
            if (pool == null) {
                beans.registerBean(Repositories.class, MemoryRepositories::new);
            } else {
                beans.registerBean(HikariDataSource.class, () -> pool);
            }
        });
        try {
            return new Server(configuration, messages, (ServletWebServerApplicationContext) application.run());
        } catch (RuntimeException failure) {
            throw Connectors.refusal(configuration, failure);
        }
    }

    private static Class<?>[] sources(Configuration configuration) {
        List<Class<?>> sources = new ArrayList<>(List.of(WebConfiguration.class));
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

    private record Server(Configuration configuration, Messages messages, ServletWebServerApplicationContext context)
            implements Running {
        private Connector connector() {
            return ((TomcatWebServer) context.getWebServer()).getTomcat().getConnector();
        }

        @Override
        public String address() {
            return Connectors.address(connector(), configuration);
        }

        @Override
        public Map<String, Object> set() {
            return Connectors.set(connector(), configuration);
        }

        @Override
        public void callSelf() throws IOException {
            SelfCall.make(configuration, address(), new SelfCall.Request(
                    "/petclinic/api/pettypes", Map.of("Accept", messages.mediaType()), null));
        }

        @Override
        public void stop(long graceMs) {
            Drain.await(connector(), graceMs);
            context.close();
        }
    }
}
