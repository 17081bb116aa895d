package wirelab.service.spring;

import java.io.IOException;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.catalina.connector.Connector;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.web.embedded.tomcat.TomcatWebServer;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import wirelab.service.Binding;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.web.Connectors;
import wirelab.service.web.Drain;
import wirelab.service.web.SelfCall;

/** A Spring Boot application that serves. */
public final class SpringServer implements Binding.Running {
    private final Configuration configuration;
    private final SelfCall.Request own;
    private final ServletWebServerApplicationContext context;

    private SpringServer(
            Configuration configuration, SelfCall.Request own, ServletWebServerApplicationContext context) {
        this.configuration = configuration;
        this.own = own;
        this.context = context;
    }

    /**
     * Starts it. {@code beans} registers what {@code sources} need in addition to the configuration; {@code own}
     * is the call to itself.
     */
    public static SpringServer start(
            Configuration configuration, SelfCall.Request own, Consumer<GenericApplicationContext> beans,
            Class<?>... sources) throws Refusal {
        // Spring logs by java.util.logging, to standard error, from warnings on.
        System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
        SpringApplication application = new SpringApplication(sources);
        application.setWebApplicationType(WebApplicationType.SERVLET);
        application.setBannerMode(Banner.Mode.OFF);
        application.setLogStartupInfo(false);
        application.setRegisterShutdownHook(false);
        application.setDefaultProperties(Map.of("spring.web.resources.add-mappings", "false"));
        application.addInitializers(context -> {
            GenericApplicationContext made = (GenericApplicationContext) context;
            made.registerBean(Configuration.class, () -> configuration);
            beans.accept(made);
        });
        try {
            return new SpringServer(configuration, own, (ServletWebServerApplicationContext) application.run());
        } catch (RuntimeException failure) {
            throw Connectors.refusal(configuration, failure);
        }
    }

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
        SelfCall.make(configuration, address(), own);
    }

    @Override
    public void stop(long graceMs) {
        Drain.await(connector(), graceMs);
        context.close();
    }
}
