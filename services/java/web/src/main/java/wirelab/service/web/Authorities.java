package wirelab.service.web;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;

/** Certificates of a PEM file as what Java calls a trust store. Tomcat reads such a file for OpenSSL only. */
final class Authorities {
    private Authorities() {}

    static KeyStore of(String path) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (InputStream file = Files.newInputStream(Path.of(path))) {
            for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
                store.setCertificateEntry(String.valueOf(store.size()), each);
            }
        }
        if (store.size() == 0) {
            throw new IOException(path + " holds no certificate");
        }
        return store;
    }
}
