package wirelab.service.spring;

import java.net.InetAddress;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.ServletWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.web.embedded.tomcat.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import wirelab.service.Address;
import wirelab.service.Calls;
import wirelab.service.web.Connectors;

/**
 * Tomcat under Spring. Only Spring Boot's web parts are configured, by name: looking for what
 * else the class path could offer would cost time at every start.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({
    ServletWebServerFactoryAutoConfiguration.class,
    DispatcherServletAutoConfiguration.class,
    WebMvcAutoConfiguration.class
})
public class TomcatConfiguration {
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
}
