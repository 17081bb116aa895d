package wirelab.service.contract.message;

import jakarta.xml.bind.annotation.adapters.XmlAdapter;
import java.util.Base64;

/**
 * The lexical forms of XML Schema part 2. JAXB's own readers let a number overflow, take any letters
 * for a boolean, and skip what is no base64.
 */
final class Strict {
    private Strict() {}

    /** xsd:int. */
    static final class Int extends XmlAdapter<String, Integer> {
        @Override
        public Integer unmarshal(String text) {
            return Integer.valueOf(text.strip());
        }

        @Override
        public String marshal(Integer value) {
            return value.toString();
        }
    }

    /** xsd:long. */
    static final class Whole extends XmlAdapter<String, Long> {
        @Override
        public Long unmarshal(String text) {
            return Long.valueOf(text.strip());
        }

        @Override
        public String marshal(Long value) {
            return value.toString();
        }
    }

    /** xsd:boolean. */
    static final class Truth extends XmlAdapter<String, Boolean> {
        @Override
        public Boolean unmarshal(String text) {
            return switch (text.strip()) {
                case "true", "1" -> true;
                case "false", "0" -> false;
                default -> throw new IllegalArgumentException("not a boolean: " + text);
            };
        }

        @Override
        public String marshal(Boolean value) {
            return value.toString();
        }
    }

    /** xsd:double, whose infinities are not Java's. */
    static final class Real extends XmlAdapter<String, Double> {
        @Override
        public Double unmarshal(String text) {
            String number = text.strip();
            return switch (number) {
                case "INF" -> Double.POSITIVE_INFINITY;
                case "-INF" -> Double.NEGATIVE_INFINITY;
                case "NaN" -> Double.NaN;
                default -> plain(number);
            };
        }

        private static Double plain(String number) {
            if (!number.matches("[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?")) {
                throw new NumberFormatException("not a double: " + number);
            }
            return Double.valueOf(number);
        }

        @Override
        public String marshal(Double value) {
            return value.isInfinite() ? value > 0 ? "INF" : "-INF" : value.toString();
        }
    }

    /** xsd:base64Binary; white space may stand anywhere in it. */
    static final class Bytes extends XmlAdapter<String, byte[]> {
        @Override
        public byte[] unmarshal(String text) {
            boolean spaced = text.chars().anyMatch(letter -> letter <= ' ');
            return Base64.getDecoder().decode(spaced ? text.replaceAll("[ \t\r\n]+", "") : text);
        }

        @Override
        public String marshal(byte[] value) {
            return Base64.getEncoder().encodeToString(value);
        }
    }
}
