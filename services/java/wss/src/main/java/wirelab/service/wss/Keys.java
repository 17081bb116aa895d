package wirelab.service.wss;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.KeyStoreException;
import org.apache.wss4j.common.crypto.Merlin;

/**
 * The keys of one end, from a file of PKCS #12 (RFC 7292): its own key, and the certificate of the other
 * end. Nothing but that certificate is trusted, so that a message that is sent back to its sender is not.
 */
public final class Keys {
    final String ownName;
    final String otherName;
    final String password;
    final Merlin own = new Merlin();
    final Merlin other = new Merlin();

    private Keys(String ownName, String otherName, String password) {
        this.ownName = ownName;
        this.otherName = otherName;
        this.password = password;
    }

    /** The keys of a service. */
    public static Keys ofService(String file, String password) throws IOException {
        return read(Path.of(file), new Keys("service", "caller", password));
    }

    /** The keys of a caller. */
    public static Keys ofCaller(String file, String password) throws IOException {
        return read(Path.of(file), new Keys("caller", "service", password));
    }

    private static Keys read(Path file, Keys keys) throws IOException {
        char[] password = keys.password.toCharArray();
        try (InputStream input = Files.newInputStream(file)) {
            KeyStore all = KeyStore.getInstance("PKCS12");
            all.load(input, password);
            if (!all.isKeyEntry(keys.ownName) || all.getCertificate(keys.otherName) == null) {
                throw new IOException(file + " needs a key " + keys.ownName + " and a certificate " + keys.otherName);
            }
            KeyStore own = create();
            own.setKeyEntry(
                    keys.ownName, all.getKey(keys.ownName, password), password, all.getCertificateChain(keys.ownName));
            KeyStore other = create();
            other.setCertificateEntry(keys.otherName, all.getCertificate(keys.otherName));
            keys.own.setKeyStore(own);
            keys.other.setKeyStore(other);
            return keys;
        } catch (GeneralSecurityException error) {
            throw new IOException(file + " cannot be read: " + error.getMessage(), error);
        }
    }

    private static KeyStore create() throws KeyStoreException, IOException, GeneralSecurityException {
        KeyStore empty = KeyStore.getInstance("PKCS12");
        empty.load(null, null);
        return empty;
    }
}
