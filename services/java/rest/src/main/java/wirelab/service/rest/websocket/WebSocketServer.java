package wirelab.service.rest.websocket;

import com.fasterxml.jackson.core.JsonProcessingException;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.websocket.DeploymentException;
import jakarta.websocket.Extension;
import jakarta.websocket.server.ServerContainer;
import jakarta.websocket.server.ServerEndpointConfig;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.catalina.core.StandardContext;
import org.apache.tomcat.websocket.Constants;
import org.apache.tomcat.websocket.server.WsSci;
import wirelab.service.Binding;
import wirelab.service.Calls;
import wirelab.service.Configuration;
import wirelab.service.Refusal;
import wirelab.service.contract.Stream;
import wirelab.service.contract.message.StreamMessages.FeedRequest;
import wirelab.service.web.Connectors;
import wirelab.service.web.Drain;
import wirelab.service.web.SelfCall;
import wirelab.service.web.ServletStack;
import wirelab.service.web.WebServer;

/** Contract {@code stream} over WebSocket, by Jakarta WebSocket on an embedded Tomcat. */
public final class WebSocketServer implements Binding.Running {
    /** A reader that takes nothing for so long is cut off, as over HTTP; by default after 20 s. */
    private static final long SEND_TIMEOUT_MS = 60_000;

    /** The part of the grace that is kept for telling clients that the service ends. */
    private static final long CLOSE_MS = 100;
    private static final long LOOK_EVERY_MS = 5;

    private final Configuration configuration;
    private final Stream model;
    private final Calls calls;
    private final boolean text;
    private final Set<StreamEndpoint> open = ConcurrentHashMap.newKeySet();
    private WebServer server;

    private WebSocketServer(Configuration configuration, Stream model, Calls calls) {
        this.configuration = configuration;
        this.model = model;
        this.calls = calls;
        text = configuration.stack().codec().equals("json");
    }

    /** Throws {@link Refusal} when the address cannot be had. */
    public static WebSocketServer start(Configuration configuration, Stream model, Calls calls)
            throws Refusal, IOException {
        WebSocketServer started = new WebSocketServer(configuration, model, calls);
        started.server = WebServer.start(configuration, calls, started::addTo);
        return started;
    }

    private void addTo(StandardContext context) {
        context.addServletContainerInitializer(
                (classes, servlets) -> addEndpoints(servlets), Set.of());
        List<String> paths = model.operations().stream().map(this::path).toList();
        WebServer.serve(context, new UpgradeRequired(paths));
    }

    private void addEndpoints(ServletContext context) throws ServletException {
        new WsSci().onStartup(Set.of(), context);
        ServerContainer container =
                (ServerContainer) context.getAttribute(ServerContainer.class.getName());
        try {
            for (String operation : model.operations()) {
                container.addEndpoint(endpoint(operation));
            }
        } catch (DeploymentException error) {
            throw new ServletException(error);
        }
    }

    private ServerEndpointConfig endpoint(String operation) {
        ServerEndpointConfig endpoint = ServerEndpointConfig.Builder
                .create(StreamEndpoint.class, path(operation))
                .configurator(new Opener(operation))
                .build();
        endpoint.getUserProperties()
                .put(Constants.BLOCKING_SEND_TIMEOUT_PROPERTY, SEND_TIMEOUT_MS);
        return endpoint;
    }

    private String path(String operation) {
        return "/" + model.contract() + "/" + operation.toLowerCase(Locale.ROOT);
    }

    /** Opens the connections of an operation; an endpoint is one connection. */
    private final class Opener extends ServerEndpointConfig.Configurator {
        private final String operation;

        Opener(String operation) {
            this.operation = operation;
        }

        @Override
        public <T> T getEndpointInstance(Class<T> endpoint) {
            return endpoint.cast(new StreamEndpoint(
                    text, sender -> StreamOperation.of(operation, model, calls, sender), open));
        }

        /** Tomcat has permessage-deflate, and compresses every message where it was offered. */
        @Override
        public List<Extension> getNegotiatedExtensions(
                List<Extension> installed, List<Extension> requested) {
            return configuration.stack().compression().equals("permessage-deflate")
                    ? super.getNegotiatedExtensions(installed, requested)
                    : List.of();
        }
    }

    /** Answers what is not an upgrade to WebSocket. */
    private static final class UpgradeRequired extends HttpServlet {
        private static final long serialVersionUID = 1L;

        /** RFC 9110 section 15.5.22. */
        private static final int UPGRADE_REQUIRED = 426;

        private final transient List<String> paths;

        UpgradeRequired(List<String> paths) {
            this.paths = paths;
        }

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            if (paths.contains(request.getRequestURI())) {
                response.setHeader("Upgrade", "websocket");
                ServletStack.reject(
                        response, UPGRADE_REQUIRED, "connect by GET with Upgrade: websocket");
            } else {
                ServletStack.reject(response, HttpServletResponse.SC_NOT_FOUND, "no such path");
            }
        }
    }

    @Override
    public String address() {
        return Connectors.address(server.connector(), configuration);
    }

    @Override
    public Map<String, Object> set() {
        return Connectors.set(server.connector(), configuration);
    }

    @Override
    public void callSelf() throws IOException {
        FeedRequest ask = new FeedRequest();
        ask.count = 1;
        ask.pattern = "constant";
        SelfCall.makeByWebSocket(
                configuration, address(), new SelfCall.Request(path("Feed"), Map.of(), write(ask)));
    }

    private byte[] write(FeedRequest ask) throws JsonProcessingException {
        return text
                ? ReceivedMessage.Json.MAPPER.writeValueAsBytes(ask)
                : wirelab.stream.v1.FeedRequest.newBuilder()
                        .setCount(ask.count).setPattern(ask.pattern).build().toByteArray();
    }

    /**
     * Ends connections with status 1001: those without a stream at once, the others when it has
     * ended, or shortly before the grace has.
     */
    @Override
    public void stop(long graceMs) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(graceMs);
        Drain.await(server.connector(), 0);
        long cutOff = deadline - TimeUnit.MILLISECONDS.toNanos(CLOSE_MS);
        endConnections(StreamEndpoint::isIdle, CLOSE_MS);
        while (!open.isEmpty() && System.nanoTime() < cutOff && pause()) {
            endConnections(StreamEndpoint::isIdle, CLOSE_MS);
        }
        endConnections(endpoint -> true, CLOSE_MS);
        // Threads that still write, or that read what the clients answer.
        long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        Drain.await(server.connector(), leftMs);
        server.stop();
    }

    private void endConnections(Predicate<StreamEndpoint> which, long graceMs) {
        List<StreamEndpoint> ended = open.stream().filter(which).toList();
        long eachMs = Math.max(1, graceMs / Math.max(1, ended.size()));
        for (StreamEndpoint endpoint : ended) {
            try {
                endpoint.stop(eachMs);
            } catch (IOException gone) {
                System.err.println("stopping: " + gone);
            }
        }
    }

    /** False where the thread is to hurry. */
    private static boolean pause() {
        try {
            Thread.sleep(LOOK_EVERY_MS);
            return true;
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
