package wirelab.service.web;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import wirelab.service.Address;
import wirelab.service.Configuration;

/** A connection of the service to itself: TCP, TLS or a Unix socket. */
record OwnConnection(InputStream input, OutputStream output, AutoCloseable socket) implements AutoCloseable {

    static OwnConnection open(Configuration configuration, String address, int patienceMs) throws IOException {
        if (Address.isUnix(address)) {
            SocketChannel channel = SocketChannel.open(Address.of(address));
            return new OwnConnection(Channels.newInputStream(channel), Channels.newOutputStream(channel), channel);
        }
        Socket socket = new Socket();
        socket.connect(Address.internet(address), patienceMs);
        socket.setSoTimeout(patienceMs);
        Socket secured = configuration.stack().security().equals("none") ? socket : secure(configuration, socket);
        return new OwnConnection(secured.getInputStream(), secured.getOutputStream(), secured);
    }

    private static SSLSocket secure(Configuration configuration, Socket socket) throws IOException {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {new Anyone()}, null);
            SSLSocket secured =
                    (SSLSocket) context.getSocketFactory().createSocket(socket, "localhost", socket.getPort(), true);
            SSLParameters parameters = secured.getSSLParameters();
            boolean http2 = configuration.stack().transport().equals("http/2");
            parameters.setApplicationProtocols(new String[] {http2 ? "h2" : "http/1.1"});
            secured.setSSLParameters(parameters);
            secured.startHandshake();
            return secured;
        } catch (GeneralSecurityException impossible) {
            throw new IOException("this Java has no TLS", impossible);
        }
    }

    @Override
    public void close() throws IOException {
        try {
            socket.close();
        } catch (IOException | RuntimeException error) {
            throw error;
        } catch (Exception impossible) {
            throw new AssertionError("sockets throw IOException only", impossible);
        }
    }

    /** The peer is this process: there is nothing to verify. */
    private static final class Anyone implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
