package service;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The command line. */
public record Options(
        String binding,
        String codec,
        InetSocketAddress address,
        Path reply,
        String compression,
        String transport,
        boolean numbersTexts) {
    private static final Map<String, List<String>> VALUES = Map.of(
            "--binding", List.of("rest", "soap", "grpc"),
            "--codec", List.of("json", "protobuf", "xml", "cbor", "msgpack", "avro", "soap-literal"),
            "--compression", List.of("none", "gzip", "zstd"),
            "--transport", List.of("http/1.1", "http/2"),
            "--numbered", List.of("text", "numbers"));
    private static final List<String> FREE = List.of("--host", "--port", "--reply", "--processors");
    private static final Map<String, List<String>> CODECS = Map.of(
            "rest", List.of("json", "protobuf", "xml", "cbor", "msgpack", "avro"),
            "soap", List.of("soap-literal"),
            "grpc", List.of("protobuf"));

    /** Options that cannot be served; the message is one line. */
    public static final class Bad extends Exception {
        private static final long serialVersionUID = 1L;

        public Bad(String message) {
            super(message);
        }
    }

    /** Whether calls come over HTTP/2, with prior knowledge (RFC 9113 section 3.3). */
    public boolean isHttp2() {
        return transport.equals("http/2");
    }

    /** Reads the arguments. */
    public static Options parse(String[] arguments) throws Bad {
        Map<String, String> given = pairs(arguments);
        String binding = require(given, "--binding");
        String codec = require(given, "--codec");
        if (!CODECS.get(binding).contains(codec)) {
            throw new Bad("binding " + binding + " does not carry codec " + codec);
        }
        String transport = given.getOrDefault("--transport", binding.equals("grpc") ? "http/2" : "http/1.1");
        if (binding.equals("grpc") && !transport.equals("http/2")) {
            throw new Bad("binding grpc needs --transport http/2");
        }
        whole(given.getOrDefault("--processors", "1"), "--processors", 1, 4096);
        return new Options(
                binding,
                codec,
                address(given.getOrDefault("--host", "127.0.0.1"), require(given, "--port")),
                Path.of(require(given, "--reply")),
                given.getOrDefault("--compression", "none"),
                transport,
                given.getOrDefault("--numbered", "numbers").equals("text"));
    }

    private static Map<String, String> pairs(String[] arguments) throws Bad {
        Map<String, String> given = new HashMap<>();
        for (int at = 0; at < arguments.length; at += 2) {
            String name = arguments[at];
            if (!VALUES.containsKey(name) && !FREE.contains(name)) {
                throw new Bad("unknown option " + name);
            }
            if (at + 1 == arguments.length) {
                throw new Bad(name + " needs a value");
            }
            String value = arguments[at + 1];
            if (VALUES.containsKey(name) && !VALUES.get(name).contains(value)) {
                throw new Bad(name + " takes " + String.join(", ", VALUES.get(name)) + ", not " + value);
            }
            given.put(name, value);
        }
        return given;
    }

    private static String require(Map<String, String> given, String name) throws Bad {
        if (!given.containsKey(name)) {
            throw new Bad(name + " is missing");
        }
        return given.get(name);
    }

    private static InetSocketAddress address(String host, String port) throws Bad {
        InetSocketAddress address = new InetSocketAddress(host, whole(port, "--port", 0, 65535));
        if (address.isUnresolved()) {
            throw new Bad("--host " + host + " is not known");
        }
        return address;
    }

    private static int whole(String text, String name, int least, int most) throws Bad {
        try {
            int value = Integer.parseInt(text);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException error) {
            // As a number out of range.
        }
        throw new Bad(name + " takes a number from " + least + " to " + most + ", not " + text);
    }
}
