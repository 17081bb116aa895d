package wirelab.service.petclinic.openapi;

import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.info.Info;
import io.swagger.v3.oas.models.servers.Server;
import java.util.List;
import org.springdoc.core.configuration.SpringDocConfiguration;
import org.springdoc.core.customizers.GlobalOpenApiCustomizer;
import org.springdoc.core.customizers.GlobalOperationCustomizer;
import org.springdoc.core.properties.SpringDocConfigProperties;
import org.springdoc.webmvc.core.configuration.SpringDocWebMvcConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** springdoc in the application: paths, methods and parameters from the controllers, bodies from {@link Bodies}. */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({
    JacksonAutoConfiguration.class, SpringDocConfigProperties.class, SpringDocConfiguration.class,
    SpringDocWebMvcConfiguration.class
})
public class OpenApiConfiguration {
    /** The head of the document. */
    @Bean
    OpenAPI document() {
        return new OpenAPI().servers(List.of(new Server().url("/"))).info(new Info()
                .title("Petclinic")
                .version("v1")
                .description("The 33 operations of contract petclinic in JSON, as rest@java serves them."));
    }

    /** What controllers take and give as bytes and objects. */
    @Bean
    GlobalOperationCustomizer operations() {
        return (operation, handler) -> Bodies.describe(operation);
    }

    /** The schemas that the operations name. */
    @Bean
    GlobalOpenApiCustomizer schemas() {
        return Bodies::addSchemas;
    }
}
