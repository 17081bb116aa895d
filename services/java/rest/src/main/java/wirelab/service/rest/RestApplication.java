package wirelab.service.rest;

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
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerResponse;
import wirelab.service.Address;
import wirelab.service.Calls;
import wirelab.service.contract.Model;
import wirelab.service.web.BodyFilter;
import wirelab.service.web.Connectors;

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
    FilterRegistrationBean<Filter> bodies(wirelab.service.Configuration configuration, Codec codec) {
        return new FilterRegistrationBean<>(new BodyFilter(configuration.stack(), (response, status, text) -> {
            response.setStatus(status);
            response.setContentType(codec.contentType());
            response.getOutputStream().write(codec.error(text));
        }));
    }

    /** The one codec, in the place of Spring's own converters. */
    @Bean
    HttpMessageConverters converters(Codec codec) {
        return new HttpMessageConverters(false, List.of(new CodecConverter(codec)));
    }

    /** The contract's paths. */
    @Bean
    RouterFunction<ServerResponse> operations(Model model, Codec codec, Calls calls) {
        return new Operations(model, codec, calls).routes();
    }
}
