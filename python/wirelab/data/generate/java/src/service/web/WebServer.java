package service.web;

import jakarta.servlet.Servlet;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import service.Options;

/** One servlet behind a {@link BodyFilter} on an embedded Tomcat. */
public final class WebServer {
    private WebServer() {}

    /** Serves every path by {@code servlet}. */
    public static void start(Options options, Servlet servlet, BodyFilter.Rejection rejection) throws IOException {
        Tomcat tomcat = new Tomcat();
        Connector connector = new Connector(Connectors.PROTOCOL);
        Connectors.configure(connector, options);
        // Whatever fails while it starts is to be thrown, not logged.
        connector.setThrowOnFailure(true);
        tomcat.setBaseDir(Files.createTempDirectory("tomcat").toString());
        tomcat.setConnector(connector);
        tomcat.getEngine().setBackgroundProcessorDelay(-1);
        add(tomcat, servlet, new BodyFilter(options, rejection));
        try {
            tomcat.start();
        } catch (LifecycleException failure) {
            throw new IOException(failure);
        }
    }

    private static void add(Tomcat tomcat, Servlet servlet, BodyFilter filter) {
        StandardContext context = (StandardContext) tomcat.addContext("", null);
        Tomcat.addServlet(context, "service", servlet).setLoadOnStartup(1);
        context.addServletMappingDecoded("/*", "service");
        FilterDef definition = new FilterDef();
        definition.setFilterName("bodies");
        definition.setFilter(filter);
        context.addFilterDef(definition);
        FilterMap everywhere = new FilterMap();
        everywhere.setFilterName("bodies");
        everywhere.addURLPattern("/*");
        context.addFilterMap(everywhere);
    }
}
