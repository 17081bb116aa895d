package wirelab.service;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The folder for temporary files that the launcher has made for this process alone. Tomcat and CXF leave folders
 * in it, and {@code halt} asks nobody to clean up.
 */
public final class TemporaryFolder {
    private static final int ATTEMPTS_MAX = 5;

    private TemporaryFolder() {}

    /** Removes it with everything inside. A folder that is not this process's own stays. */
    public static void remove() {
        Path folder = Path.of(System.getProperty("java.io.tmpdir"));
        if (!Path.of("wirelab-java-" + ProcessHandle.current().pid()).equals(folder.getFileName())) {
            return;
        }
        IOException failure = null;
        for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
            try {
                delete(folder);
                return;
            } catch (IOException | UncheckedIOException error) {
                // A library's thread may have written or removed something meanwhile.
                failure = error instanceof UncheckedIOException unchecked ? unchecked.getCause() : (IOException) error;
            }
        }
        System.err.println("temporary files stay in " + folder + ": " + failure);
    }

    private static void delete(Path folder) throws IOException {
        List<Path> inside;
        try (Stream<Path> found = Files.walk(folder)) {
            inside = found.sorted(Comparator.reverseOrder()).toList();
        } catch (NoSuchFileException gone) {
            return;
        }
        for (Path path : inside) {
            Files.deleteIfExists(path);
        }
    }
}
