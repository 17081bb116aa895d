package wirelab.service.petclinic.web;

import jakarta.servlet.Filter;
import java.util.List;
import org.springframework.boot.autoconfigure.http.HttpMessageConverters;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import wirelab.service.Calls;
import wirelab.service.petclinic.message.Messages;
import wirelab.service.spring.ReplyConverter;
import wirelab.service.spring.TomcatConfiguration;
import wirelab.service.web.BodyFilter;

/** The web parts of the application. */
@Configuration(proxyBeanMethods = false)
@Import({
    TomcatConfiguration.class, OwnerController.class, PetController.class, PetTypeController.class, SpecialtyController.class,
    VetController.class, VisitController.class, BadRequests.class
})
public class WebConfiguration {
    /** Codings and ends of bodies. */
    @Bean
    FilterRegistrationBean<Filter> bodies(wirelab.service.Configuration configuration, Messages messages) {
        FilterRegistrationBean<Filter> bodies =
                new FilterRegistrationBean<>(new BodyFilter(configuration.stack(), (response, status, text) -> {
                    response.setStatus(status);
                    response.setContentType(messages.mediaType());
                    response.getOutputStream().write(messages.error(BodyFilter.class.getName(), text));
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
        return new HttpMessageConverters(false, List.of(new ReplyConverter(messages::write)));
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
