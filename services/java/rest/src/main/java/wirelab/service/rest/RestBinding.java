package wirelab.service.rest;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.web.embedded.tomcat.TomcatWebServer;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.apache.catalina.connector.Connector;
import wirelab.service.Binding;
import wirelab.service.Calls;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.contract.Model;
import wirelab.service.web.Connectors;
import wirelab.service.web.Drain;
import wirelab.service.web.SelfCall;

/** REST on Spring Boot's web stack with Tomcat. */
public final class RestBinding implements Binding {
    @Override
    public Running start(Configuration configuration, Model model, Calls calls) throws Refusal {
        // Spring logs by java.util.logging, to standard error, from warnings on.
        System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
        Codec codec = Codecs.codec(configuration.stack().codec(), model);
        SpringApplication application = new SpringApplication(RestApplication.class);
        application.setWebApplicationType(WebApplicationType.SERVLET);
        application.setBannerMode(Banner.Mode.OFF);
        application.setLogStartupInfo(false);
        application.setRegisterShutdownHook(false);
        application.addInitializers(context -> {
            GenericApplicationContext beans = (GenericApplicationContext) context;
            beans.registerBean(Configuration.class, () -> configuration);
            beans.registerBean(Model.class, () -> model);
            beans.registerBean(Calls.class, () -> calls);
            beans.registerBean(Codec.class, () -> codec);
        });
        try {
            return new Server(configuration, model, codec, (ServletWebServerApplicationContext) application.run());
        } catch (RuntimeException failure) {
            throw Connectors.refusal(configuration, failure);
        }
    }

    @Override
    public List<String> codecWorkers(Configuration.Stack stack) {
        return Codecs.named(stack.codec()).workers().stream().map(Supplier::get).toList();
    }

    private record Server(
            Configuration configuration, Model model, Codec codec, ServletWebServerApplicationContext context)
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
            SelfCall.make(configuration, address(), OwnRequest.of(model, codec));
        }

        @Override
        public void stop(long graceMs) {
            Drain.await(connector(), graceMs);
            context.close();
        }
    }
}
