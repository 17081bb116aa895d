package wirelab.service.wss;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Key files by the JDK's keytool, as the lab makes them. */
public final class KeyFiles {
    /** Of every file. */
    public static final String PASSWORD = "wirelab";

    private static final int PATIENCE_S = 120;

    private KeyFiles() {}

    /** A file with keys {@code service} and {@code caller}; others with the same names each time. */
    public static Path create(Path folder, String name) throws IOException, InterruptedException {
        Path file = folder.resolve(name);
        for (String end : List.of("service", "caller")) {
            Process keytool = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-genkeypair",
                            "-alias", end, "-keyalg", "RSA", "-keysize", "2048", "-sigalg", "SHA256withRSA",
                            "-validity", "2", "-dname", "CN=wirelab " + end, "-keystore", file.toString(),
                            "-storetype", "PKCS12", "-storepass", PASSWORD)
                    .redirectErrorStream(true)
                    .start();
            String said = new String(keytool.getInputStream().readAllBytes());
            if (!keytool.waitFor(PATIENCE_S, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
                throw new IOException(said);
            }
        }
        return file;
    }
}
