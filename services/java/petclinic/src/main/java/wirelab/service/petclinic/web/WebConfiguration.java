package wirelab.service.petclinic.web;

import jakarta.servlet.Filter;
import java.net.InetAddress;
import java.util.List;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.http.HttpMessageConverters;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.ServletWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.web.embedded.tomcat.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import wirelab.service.Address;
import wirelab.service.Calls;
import wirelab.service.petclinic.message.Messages;
import wirelab.service.web.BodyFilter;
import wirelab.service.web.Connectors;

/** The web parts of the application, by name: looking for what else the class path could offer would cost time. */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({
    ServletWebServerFactoryAutoConfiguration.class,
    DispatcherServletAutoConfiguration.class,
    WebMvcAutoConfiguration.class
})
@Import({
    OwnerController.class, PetController.class, PetTypeController.class, SpecialtyController.class,
    VetController.class, VisitController.class, BadRequests.class
})
public class WebConfiguration {
    /** Tomcat's connector by the configuration. */
    @Bean
    WebServerFactoryCustomizer<TomcatServletWebServerFactory> connector(
            wirelab.service.Configuration configuration, Calls calls) {
        return factory -> {
            factory.setProtocol(Connectors.protocol());
            boolean unix = Address.isUnix(configuration.listen());
            factory.setPort(unix ? 0 : Address.internet(configuration.listen()).getPort());
            factory.setAddress(unix
                    ? InetAddress.getLoopbackAddress()
                    : Address.internet(configuration.listen()).getAddress());
            factory.setRegisterDefaultServlet(false);
            factory.addConnectorCustomizers(made -> Connectors.configure(made, configuration, calls));
        };
    }

    /** Codings and ends of bodies. */
    @Bean
    FilterRegistrationBean<Filter> bodies(wirelab.service.Configuration configuration, Messages messages) {
        FilterRegistrationBean<Filter> bodies =
                new FilterRegistrationBean<>(new BodyFilter(configuration.stack(), (response, status, text) -> {
                    response.setStatus(status);
                    response.setContentType(messages.mediaType());
                    response.getOutputStream().write(messages.error(text));
                }));
        bodies.setOrder(Ordered.HIGHEST_PRECEDENCE);
        return bodies;
    }

    /** Methods that Spring would answer by itself. */
    @Bean
    FilterRegistrationBean<Filter> methods() {
        return new FilterRegistrationBean<>(new MethodRules());
    }

    /** The one codec, in the place of Spring's own converters. */
    @Bean
    HttpMessageConverters converters(Messages messages) {
        return new HttpMessageConverters(false, List.of(new ReplyConverter(messages)));
    }

    /** What controllers answer with. */
    @Bean
    Answers answers(Messages messages, Calls calls) {
        return new Answers(messages, calls);
    }

    /** What every operation asks of a request's fields. */
    @Bean
    WebMvcConfigurer rules(Messages messages) {
        return new WebMvcConfigurer() {
            @Override
            public void addInterceptors(InterceptorRegistry registry) {
                registry.addInterceptor(new ContentRules(messages));
            }
        };
    }
}
