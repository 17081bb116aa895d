package wirelab.service;

import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Names and versions of the libraries on the class path, as their files are named. */
final class Libraries {
    private static final Pattern JAR = Pattern.compile("(.+?)-(\\d[^/]*)\\.jar");

    private Libraries() {}

    static Map<String, String> versions() {
        Map<String, String> versions = new TreeMap<>();
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .flatMap(Libraries::withItsOwn)
                .map(path -> JAR.matcher(new File(path).getName()))
                .filter(Matcher::matches)
                .filter(jar -> !jar.group(1).startsWith("wirelab-java"))
                .forEach(jar -> versions.put(jar.group(1), jar.group(2)));
        return versions;
    }

    /** The entry and those that its manifest adds. */
    private static Stream<String> withItsOwn(String path) {
        if (!path.endsWith(".jar")) {
            return Stream.of(path);
        }
        try (JarFile jar = new JarFile(path)) {
            String more = jar.getManifest() == null
                    ? null
                    : jar.getManifest().getMainAttributes().getValue(Attributes.Name.CLASS_PATH);
            return Stream.concat(Stream.of(path), more == null ? Stream.of() : Arrays.stream(more.split(" ")));
        } catch (IOException unreadable) {
            return Stream.of(path);
        }
    }
}
