package wirelab.service.web;

import jakarta.servlet.Servlet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import wirelab.service.Calls;
import wirelab.service.Configuration;
import wirelab.service.Refusal;

/** One application on an embedded Tomcat. */
public final class WebServer {
    private final Tomcat tomcat = new Tomcat();
    private final Connector connector = new Connector(Connectors.protocol());
    private final Path folder;

    private WebServer(Path folder) {
        this.folder = folder;
    }

    /**
     * Serves every path by {@code servlet}, behind a {@link BodyFilter}. Throws {@link Refusal} when
     * the address cannot be had.
     */
    public static WebServer start(
            Configuration configuration, Calls calls, Servlet servlet, BodyFilter.Rejection rejection)
            throws Refusal, IOException {
        BodyFilter filter = new BodyFilter(configuration.stack(), rejection);
        return start(configuration, calls, context -> {
            serve(context, servlet);
            filter(context, filter);
        });
    }

    /** Serves what {@code application} adds to the context of all paths; refuses as above. */
    public static WebServer start(
            Configuration configuration, Calls calls, Consumer<StandardContext> application)
            throws Refusal, IOException {
        WebServer server = new WebServer(Files.createTempDirectory("wirelab-tomcat"));
        Connectors.configure(server.connector, configuration, calls);
        // Whatever fails while it starts is to be thrown, not logged.
        server.connector.setThrowOnFailure(true);
        server.tomcat.setBaseDir(server.folder.toString());
        server.tomcat.setConnector(server.connector);
        server.tomcat.getEngine().setBackgroundProcessorDelay(-1);
        application.accept(server.addContext());
        try {
            server.tomcat.start();
            return server;
        } catch (LifecycleException failure) {
            server.stop();
            throw Connectors.refusal(configuration, failure);
        }
    }

    private StandardContext addContext() {
        StandardContext context = (StandardContext) tomcat.addContext("", null);
        // This process ends with its one application: nothing of it can leak into a next one.
        context.setClearReferencesObjectStreamClassCaches(false);
        context.setClearReferencesRmiTargets(false);
        context.setClearReferencesThreadLocals(false);
        return context;
    }

    /** Serves every path by {@code servlet}. */
    public static void serve(StandardContext context, Servlet servlet) {
        Tomcat.addServlet(context, "service", servlet).setLoadOnStartup(1);
        context.addServletMappingDecoded("/*", "service");
    }

    private static void filter(StandardContext context, BodyFilter filter) {
        FilterDef definition = new FilterDef();
        definition.setFilterName("bodies");
        definition.setFilter(filter);
        context.addFilterDef(definition);
        FilterMap everywhere = new FilterMap();
        everywhere.setFilterName("bodies");
        everywhere.addURLPattern("/*");
        context.addFilterMap(everywhere);
    }

    /** The connector, for its address and what was set. */
    public Connector connector() {
        return connector;
    }

    /** Ends at once; calls in flight must have ended, see {@link Drain}. */
    public void stop() {
        try {
            tomcat.stop();
            tomcat.destroy();
            delete(folder);
        } catch (LifecycleException | IOException error) {
            System.err.println("stopping: " + error);
        }
    }

    private static void delete(Path folder) throws IOException {
        List<Path> inside;
        try (Stream<Path> found = Files.walk(folder)) {
            inside = found.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : inside) {
            Files.delete(path);
        }
    }
}
