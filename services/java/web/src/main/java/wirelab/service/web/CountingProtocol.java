package wirelab.service.web;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import org.apache.coyote.http11.Http11NioProtocol;
import org.apache.tomcat.util.net.NioEndpoint;
import wirelab.service.Calls;

/** Tomcat's connector, which also counts the connections and remembers what the kernel says of the last one. */
public final class CountingProtocol extends Http11NioProtocol {
    private final Endpoint endpoint;

    /** Made by Tomcat, by the class's name. */
    public CountingProtocol() {
        this(new Endpoint());
    }

    private CountingProtocol(Endpoint endpoint) {
        super(endpoint);
        this.endpoint = endpoint;
    }

    void countInto(Calls calls) {
        endpoint.calls = calls;
    }

    /** TCP_NODELAY of the connection accepted last, as the kernel has it; null when there was none over TCP. */
    Boolean noDelay() {
        return endpoint.noDelay;
    }

    /** SO_RCVBUF of the connection accepted last, bytes; null as above. */
    Integer receiveBytes() {
        return endpoint.receiveBytes;
    }

    private static final class Endpoint extends NioEndpoint {
        private volatile Calls calls;
        private volatile Boolean noDelay;
        private volatile Integer receiveBytes;

        @Override
        protected boolean setSocketOptions(SocketChannel socket) {
            calls.connected();
            boolean taken = super.setSocketOptions(socket);
            if (receiveBytes == null && getUnixDomainSocketPath() == null) {
                remember(socket);
            }
            return taken;
        }

        private void remember(SocketChannel socket) {
            try {
                noDelay = socket.getOption(StandardSocketOptions.TCP_NODELAY);
                receiveBytes = socket.getOption(StandardSocketOptions.SO_RCVBUF);
            } catch (IOException broken) {
                // The peer is gone already; the next connection will tell.
                return;
            }
        }
    }
}
