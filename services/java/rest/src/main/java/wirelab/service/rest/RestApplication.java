package wirelab.service.rest;

import jakarta.servlet.Filter;
import java.io.IOException;
import java.util.List;
import org.springframework.boot.autoconfigure.http.HttpMessageConverters;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerResponse;
import wirelab.service.Calls;
import wirelab.service.contract.Model;
import wirelab.service.contract.Stream;
import wirelab.service.spring.ReplyConverter;
import wirelab.service.spring.TomcatConfiguration;
import wirelab.service.web.BodyFilter;
import wirelab.service.web.StreamFilter;

/** The beans of the service. */
@Configuration(proxyBeanMethods = false)
@Import(TomcatConfiguration.class)
public class RestApplication {
    /** Codings and ends of bodies. */
    @Bean
    FilterRegistrationBean<Filter> bodies(wirelab.service.Configuration configuration, Codec codec) {
        BodyFilter.Rejection rejection = (response, status, text) -> {
            response.setStatus(status);
            response.setContentType(codec.contentType());
            response.getOutputStream().write(codec.error(text));
        };
        return new FilterRegistrationBean<>(configuration.contract().equals("stream")
                ? new StreamFilter(configuration.stack(), rejection)
                : new BodyFilter(configuration.stack(), rejection));
    }

    /** The one codec, in the place of Spring's own converters. */
    @Bean
    HttpMessageConverters converters(Codec codec) {
        return new HttpMessageConverters(false, List.of(new ReplyConverter(codec::write)));
    }

    /**
     * A client that cancels a stream over HTTP/2 is not a failure of the service; Tomcat would log it as one,
     * with its stack.
     */
    @Bean
    HandlerExceptionResolver clientIsGone() {
        return (request, response, handler, error) ->
                error instanceof IOException && response.isCommitted() ? new ModelAndView() : null;
    }

    /** The contract's paths. */
    @Bean
    RouterFunction<ServerResponse> operations(
            wirelab.service.Configuration configuration, Model model, Codec codec, Calls calls) {
        return model instanceof Stream stream
                ? new StreamOperations(stream, codec, calls, configuration.stack()).routes()
                : new Operations(model, codec, calls, configuration.stack().httpCache()).routes();
    }
}
