package wirelab.service.contract.message;

import jakarta.xml.bind.annotation.adapters.XmlAdapter;
import java.util.Base64;

/** {@link Lexical} for JAXB. */
final class Strict {
    private Strict() {}

    static final class Int extends XmlAdapter<String, Integer> {
        @Override
        public Integer unmarshal(String text) {
            return (Integer) Lexical.read(int.class, text);
        }

        @Override
        public String marshal(Integer value) {
            return value.toString();
        }
    }

    static final class Whole extends XmlAdapter<String, Long> {
        @Override
        public Long unmarshal(String text) {
            return (Long) Lexical.read(long.class, text);
        }

        @Override
        public String marshal(Long value) {
            return value.toString();
        }
    }

    static final class Truth extends XmlAdapter<String, Boolean> {
        @Override
        public Boolean unmarshal(String text) {
            return Lexical.truth(text);
        }

        @Override
        public String marshal(Boolean value) {
            return value.toString();
        }
    }

    static final class Real extends XmlAdapter<String, Double> {
        @Override
        public Double unmarshal(String text) {
            return Lexical.real(text);
        }

        @Override
        public String marshal(Double value) {
            return Lexical.format(value);
        }
    }

    static final class Bytes extends XmlAdapter<String, byte[]> {
        @Override
        public byte[] unmarshal(String text) {
            return Lexical.bytes(text);
        }

        @Override
        public String marshal(byte[] value) {
            return Base64.getEncoder().encodeToString(value);
        }
    }
}
