package wirelab.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher turns the configuration into flags, and hands over the line and the rest of its input. */
class LauncherTest {
    @TempDir
    Path folder;

    @Test
    void flagsAndClassPathFollowTheConfiguration() throws Exception {
        List<String> said = launch("{\"stack\": {\"codec\": \"json\", \"binding\": \"rest\"}, \"processors\": 2,"
                + " \"collector\": {\"gc\": \"zgc\", \"heap_max_bytes\": 123456789}}");
        assertTrue(said.get(0).contains("-XX:ActiveProcessorCount=2 -XX:+UseZGC -Xmx123456789"), said.get(0));
        assertTrue(said.get(0).contains("/lib/wirelab-java-rest-1.jar wirelab.service.Main"), said.get(0));
        assertTrue(said.get(1).startsWith("{\"stack\""), said.get(1));
        assertEquals("the rest", said.get(2));
    }

    @Test
    void eachStackHasItsModule() throws Exception {
        for (String[] row : new String[][] {
            {"soap", "soap-encoded", "axis"}, {"soap", "soap-rpc", "soap"}, {"iiop", "cdr", "iiop"},
            {"grpc", "protobuf", "grpc"}, {"raw", "token-xml", "core"}, {"../x", "", "core"}
        }) {
            String said = launch("{\"stack\":{\"binding\":\"" + row[0] + "\",\"codec\":\"" + row[1] + "\"}}").get(0);
            assertTrue(said.contains("/lib/wirelab-java-" + row[2] + "-1.jar"), said);
        }
    }

    @Test
    void petclinicOverRestIsAModuleOfItsOwn() throws Exception {
        String flags = launch("{\"contract\":\"petclinic\",\"stack\":{\"binding\":\"rest\",\"codec\":\"json\"}}").get(0);
        assertTrue(flags.contains("/lib/wirelab-java-petclinic-1.jar"), flags);
    }

    /** The folder bears the process's id; those of processes that have ended are removed, others are not. */
    @Test
    void temporaryFilesHaveAFolderOfTheProcessAlone() throws Exception {
        Path dead = Files.createDirectory(folder.resolve("wirelab-java-999999999"));
        Files.createFile(dead.resolve("left"));
        Path alive = Files.createDirectory(folder.resolve("wirelab-java-" + ProcessHandle.current().pid()));
        String flags = launch("{\"stack\":{\"binding\":\"rest\"}}").get(0);
        Matcher named = Pattern.compile("-Djava.io.tmpdir=(\\S+/wirelab-java-\\d+) ").matcher(flags);
        assertTrue(named.find(), flags);
        Path own = Path.of(named.group(1));
        assertEquals(folder, own.getParent());
        assertTrue(Files.isDirectory(own));
        assertTrue(Files.notExists(dead));
        assertTrue(Files.isDirectory(alive));
    }

    private List<String> launch(String line) throws Exception {
        Path java = folder.resolve("java");
        Files.writeString(java, "#!/bin/sh\necho \"$@\"\necho \"$WIRELAB_CONFIGURATION\"\ncat\n");
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path launcher = Path.of(System.getProperty("wirelab.contracts"), "..", "services", "java", "launcher", "src",
                "wirelab-java-service");
        ProcessBuilder builder = new ProcessBuilder("sh", launcher.toString());
        builder.environment().put("JAVA", java.toString());
        builder.environment().put("TMPDIR", folder.toString());
        Process process = builder.start();
        process.getOutputStream().write((line + "\nthe rest\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().close();
        List<String> said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        assertEquals(0, process.waitFor());
        return said;
    }
}
