package wirelab.service.web;

import java.io.IOException;
import java.net.SocketException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.catalina.connector.Connector;
import org.apache.coyote.http2.Http2Protocol;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;
import wirelab.service.Address;
import wirelab.service.Calls;
import wirelab.service.Configuration;
import wirelab.service.Refusal;

/** Sets up Tomcat's connector as the configuration wants it. */
public final class Connectors {
    /** Without it Tomcat ends a connection after 100 requests, and a caller's policy would not hold. */
    private static final String NO_LIMIT = "-1";

    private static final int CONNECTIONS_MAX = 20_000;
    private static final int BACKLOG = 4096;

    private Connectors() {}

    /** The class to make a connector of. */
    public static String protocol() {
        return CountingProtocol.class.getName();
    }

    /** Applies the configuration to a connector of {@link #protocol}. */
    public static void configure(Connector connector, Configuration configuration, Calls calls) {
        CountingProtocol protocol = (CountingProtocol) connector.getProtocolHandler();
        protocol.countInto(calls);
        protocol.setMaxConnections(CONNECTIONS_MAX);
        protocol.setAcceptCount(BACKLOG);
        connector.setProperty("maxKeepAliveRequests", NO_LIMIT);
        connector.setProperty("keepAliveTimeout", NO_LIMIT);
        connector.setProperty("tcpNoDelay", String.valueOf(!configuration.socket().nagle()));
        connector.setXpoweredBy(false);
        // A stream lasts as long as its schedule; by default Tomcat would end it after 30 s.
        connector.setAsyncTimeout(0);
        if (configuration.socket().tcpWindow() != null) {
            connector.setProperty("socket.rxBufSize", String.valueOf(configuration.socket().tcpWindow()));
        }
        if (Address.isUnix(configuration.listen())) {
            connector.setProperty("unixDomainSocketPath", Address.path(configuration.listen()));
        } else {
            connector.setProperty("address", Address.internet(configuration.listen()).getAddress().getHostAddress());
            connector.setPort(Address.internet(configuration.listen()).getPort());
        }
        if (configuration.stack().transport().equals("http/2")) {
            connector.addUpgradeProtocol(http2(configuration));
        }
        if (!configuration.stack().security().equals("none")) {
            secure(connector, configuration);
        }
    }

    private static Http2Protocol http2(Configuration configuration) {
        Http2Protocol http2 = new Http2Protocol();
        http2.setKeepAliveTimeout(-1);
        if (configuration.socket().h2Window() != null) {
            http2.setInitialWindowSize(configuration.socket().h2Window());
        }
        return http2;
    }

    private static void secure(Connector connector, Configuration configuration) {
        connector.setSecure(true);
        connector.setScheme("https");
        connector.setProperty("SSLEnabled", "true");
        SSLHostConfig host = new SSLHostConfig();
        SSLHostConfigCertificate certificate =
                new SSLHostConfigCertificate(host, SSLHostConfigCertificate.Type.UNDEFINED);
        certificate.setCertificateFile(configuration.tls().certificate());
        certificate.setCertificateKeyFile(configuration.tls().key());
        host.addCertificate(certificate);
        if (configuration.stack().security().equals("mtls")) {
            host.setCertificateVerification("required");
            host.setTrustStore(authorities(configuration.tls().clientCa()));
        }
        connector.addSslHostConfig(host);
    }

    private static KeyStore authorities(String path) {
        try {
            return Authorities.of(path);
        } catch (IOException | GeneralSecurityException error) {
            throw new IllegalArgumentException(path + " holds no certificates in PEM", error);
        }
    }

    /** What a started connector has, as the library and the kernel say. */
    public static Map<String, Object> set(Connector connector, Configuration configuration) {
        CountingProtocol protocol = (CountingProtocol) connector.getProtocolHandler();
        Map<String, Object> set = new LinkedHashMap<>();
        set.put("nagle", protocol.noDelay() != null && !protocol.noDelay());
        if (protocol.receiveBytes() != null) {
            set.put("so_rcvbuf", protocol.receiveBytes());
        }
        set.put("threads_max", protocol.getMaxThreads());
        set.put("end_of_message", configuration.stack().endOfMessage());
        set.put("http_cache", configuration.stack().httpCache());
        if (configuration.stack().transport().equals("http/2")) {
            Http2Protocol http2 = (Http2Protocol) connector.findUpgradeProtocols()[0];
            set.put("h2_window", http2.getInitialWindowSize());
            set.put("h2_streams_max", http2.getMaxConcurrentStreams());
            set.put("h2_streams_at_work_max", http2.getMaxConcurrentStreamExecution());
        }
        return set;
    }

    /** The address at which a started connector can be reached. */
    public static String address(Connector connector, Configuration configuration) {
        return Address.withPort(configuration.listen(), connector.getLocalPort());
    }

    /** What a connector's failure to start means. */
    public static Refusal refusal(Configuration configuration, Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        boolean tls = !configuration.stack().security().equals("none")
                && !(cause instanceof SocketException);
        return new Refusal(tls ? "tls" : "listen", configuration.listen() + ": " + cause,
                tls ? "give PEM files: a certificate (chain), its private key, a client CA"
                        : "use port 0, or a free port or path");
    }
}
