package wirelab.service.iiop;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import org.jacorb.orb.factory.ServerSocketFactory;
import wirelab.service.Calls;
import wirelab.service.Configuration;

/**
 * Makes the ORB's listening socket, so that accepted ones can be counted, bounded and given the
 * options that were asked for; JacORB by itself turns Nagle's algorithm off and knows no receive
 * window.
 */
public final class ListeningSockets implements ServerSocketFactory {
    // JacORB makes this object by its class's name: what it needs cannot be handed to it.
    private static volatile Configuration.Socket options;
    private static volatile Calls calls;
    private static volatile ServerSocket listening;
    private static volatile Boolean nagle;

    static void prepare(Configuration.Socket config, Calls counter) {
        options = config;
        calls = counter;
        nagle = null;
    }

    static int port() {
        return listening.getLocalPort();
    }

    /** Whether the last connection that was accepted has Nagle's algorithm; null before the first. */
    static Boolean nagle() {
        return nagle;
    }

    @Override
    public ServerSocket createServerSocket(int port) throws IOException {
        return createServerSocket(port, 0, null);
    }

    @Override
    public ServerSocket createServerSocket(int port, int backlog) throws IOException {
        return createServerSocket(port, backlog, null);
    }

    @Override
    public ServerSocket createServerSocket(int port, int backlog, InetAddress address) throws IOException {
        ServerSocket made = new Listening();
        if (options.tcpWindow() != null) {
            // Before bind: the window scale of the handshake follows from it.
            made.setReceiveBufferSize(options.tcpWindow());
        }
        made.bind(new InetSocketAddress(address, port), Math.max(backlog, 1024));
        listening = made;
        return made;
    }

    private static final class Listening extends ServerSocket {
        Listening() throws IOException {
            super();
        }

        @Override
        public Socket accept() throws IOException {
            Socket socket = new Accepted();
            implAccept(socket);
            calls.connected();
            return socket;
        }
    }

    private static final class Accepted extends Socket {
        private InputStream bounded;

        @Override
        public synchronized InputStream getInputStream() throws IOException {
            if (bounded == null) {
                bounded = new BoundedFragments(super.getInputStream(), BoundedBuffers.MESSAGE_BYTES_MAX);
            }
            return bounded;
        }

        @Override
        public void setTcpNoDelay(boolean on) throws SocketException {
            super.setTcpNoDelay(!options.nagle());
            nagle = !getTcpNoDelay();
        }
    }
}
