package service.web;

import org.apache.catalina.connector.Connector;
import org.apache.coyote.AbstractProtocol;
import org.apache.coyote.http2.Http2Protocol;
import service.Options;

/** Sets up Tomcat's connector by the options. */
public final class Connectors {
    /** The class to make a connector of. */
    public static final String PROTOCOL = "org.apache.coyote.http11.Http11NioProtocol";

    /** Without it Tomcat ends a connection after 100 requests, or when it is idle. */
    private static final String NO_LIMIT = "-1";

    private static final int CONNECTIONS_MAX = 20_000;
    private static final int BACKLOG = 4096;

    private Connectors() {}

    /** Applies the options to a connector of {@link #PROTOCOL}. */
    public static void configure(Connector connector, Options options) {
        AbstractProtocol<?> protocol = (AbstractProtocol<?>) connector.getProtocolHandler();
        protocol.setMaxConnections(CONNECTIONS_MAX);
        protocol.setAcceptCount(BACKLOG);
        connector.setProperty("maxKeepAliveRequests", NO_LIMIT);
        connector.setProperty("keepAliveTimeout", NO_LIMIT);
        connector.setProperty("tcpNoDelay", "true");
        connector.setXpoweredBy(false);
        connector.setProperty("address", options.address().getAddress().getHostAddress());
        connector.setPort(options.address().getPort());
        if (options.isHttp2()) {
            Http2Protocol http2 = new Http2Protocol();
            http2.setKeepAliveTimeout(-1);
            connector.addUpgradeProtocol(http2);
        }
    }
}
