package service.rest;

import java.util.Map;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.support.GenericApplicationContext;
import service.Answers;
import service.Options;
import service.codec.Codec;

/** REST on Spring Boot's web stack with Tomcat. */
public final class RestServer {
    private RestServer() {}

    /** Listens, and answers from then on. */
    public static void start(Options options, Codec codec, Answers<?, ?> answers) {
        // Spring logs by java.util.logging, to standard error, from warnings on.
        System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
        SpringApplication application = new SpringApplication(RestApplication.class);
        application.setWebApplicationType(WebApplicationType.SERVLET);
        application.setBannerMode(Banner.Mode.OFF);
        application.setLogStartupInfo(false);
        application.setRegisterShutdownHook(false);
        application.setDefaultProperties(Map.of("spring.web.resources.add-mappings", "false"));
        application.addInitializers(context -> {
            GenericApplicationContext made = (GenericApplicationContext) context;
            made.registerBean(Options.class, () -> options);
            made.registerBean(Codec.class, () -> codec);
            made.registerBean(Answers.class, () -> answers);
        });
        application.run();
    }
}
