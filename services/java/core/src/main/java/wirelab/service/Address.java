package wirelab.service;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;

/** Addresses as the process contract writes them. */
public final class Address {
    private static final String UNIX = Offer.UNIX;

    private Address() {}

    /** Whether it is {@code unix:/path}. */
    public static boolean isUnix(String address) {
        return address.startsWith(UNIX);
    }

    /** The path of {@code unix:/path}. */
    public static String path(String address) {
        return address.substring(UNIX.length());
    }

    /** The socket address; hosts are literals, so nothing is resolved. */
    public static SocketAddress of(String address) {
        return isUnix(address) ? UnixDomainSocketAddress.of(path(address)) : internet(address);
    }

    /** The socket address of {@code host:port}. */
    public static InetSocketAddress internet(String address) {
        int colon = address.lastIndexOf(':');
        try {
            InetAddress host = InetAddress.getByName(address.substring(0, colon));
            return new InetSocketAddress(host, Integer.parseInt(address.substring(colon + 1)));
        } catch (UnknownHostException impossible) {
            throw new IllegalArgumentException(address + " was checked to be a literal", impossible);
        }
    }

    /** The configured host with the port that was really taken. */
    public static String withPort(String configured, int port) {
        return isUnix(configured) ? configured : configured.substring(0, configured.lastIndexOf(':') + 1) + port;
    }
}
