package service.rest;

import jakarta.servlet.Filter;
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
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerResponse;
import service.Answers;
import service.Options;
import service.codec.Codec;
import service.web.BodyFilter;
import service.web.Connectors;

/**
 * The beans of the service. Only Spring Boot's web parts are configured, by name: looking for what
 * else the class path could offer would cost time at every start.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({
    ServletWebServerFactoryAutoConfiguration.class,
    DispatcherServletAutoConfiguration.class,
    WebMvcAutoConfiguration.class
})
public class RestApplication {
    /** Tomcat's connector by the options. */
    @Bean
    WebServerFactoryCustomizer<TomcatServletWebServerFactory> connector(Options options) {
        return factory -> {
            factory.setProtocol(Connectors.PROTOCOL);
            factory.setPort(options.address().getPort());
            factory.setAddress(options.address().getAddress());
            factory.setRegisterDefaultServlet(false);
            factory.addConnectorCustomizers(made -> Connectors.configure(made, options));
        };
    }

    /** Codings of bodies. */
    @Bean
    FilterRegistrationBean<Filter> bodies(Options options, Codec codec) {
        return new FilterRegistrationBean<>(new BodyFilter(options, (response, status, text) -> {
            response.setStatus(status);
            response.setContentType(codec.mediaTypes().get(0));
            response.getOutputStream().write(codec.error(text));
        }));
    }

    /** The one codec, in the place of Spring's own converters. */
    @Bean
    HttpMessageConverters converters(Codec codec) {
        return new HttpMessageConverters(false, List.of(new ReplyConverter(codec)));
    }

    /** The operation at its path. */
    @Bean
    RouterFunction<ServerResponse> routes(Codec codec, Answers<?, ?> answers) {
        return new CallHandler<>(codec, answers).routes();
    }
}
