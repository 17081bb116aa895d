package service.codec;

import jakarta.xml.bind.annotation.adapters.XmlAdapter;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;

/**
 * {@link Texts} for JAXB, which by itself lets numbers overflow, takes any word for a boolean and skips
 * what is not base64.
 */
public final class XmlTexts {
    private XmlTexts() {}

    /** xsd:boolean. */
    public static final class Bool extends XmlAdapter<String, Boolean> {
        @Override
        public Boolean unmarshal(String text) {
            return Texts.bool(text);
        }

        @Override
        public String marshal(Boolean value) {
            return value == null ? null : value.toString();
        }
    }

    /** xsd:int. */
    public static final class Int32 extends XmlAdapter<String, Integer> {
        @Override
        public Integer unmarshal(String text) {
            return Texts.int32(text);
        }

        @Override
        public String marshal(Integer value) {
            return value == null ? null : value.toString();
        }
    }

    /** xsd:long. */
    public static final class Int64 extends XmlAdapter<String, Long> {
        @Override
        public Long unmarshal(String text) {
            return Texts.int64(text);
        }

        @Override
        public String marshal(Long value) {
            return value == null ? null : value.toString();
        }
    }

    /** xsd:unsignedInt. */
    public static final class Unsigned32 extends XmlAdapter<String, Long> {
        @Override
        public Long unmarshal(String text) {
            return Texts.unsigned32(text);
        }

        @Override
        public String marshal(Long value) {
            return value == null ? null : value.toString();
        }
    }

    /** xsd:unsignedLong. */
    public static final class Unsigned64 extends XmlAdapter<String, Long> {
        @Override
        public Long unmarshal(String text) {
            return Texts.unsigned64(text);
        }

        @Override
        public String marshal(Long value) {
            return value == null ? null : Long.toUnsignedString(value);
        }
    }

    /** xsd:float. */
    public static final class Float32 extends XmlAdapter<String, Float> {
        @Override
        public Float unmarshal(String text) {
            return Texts.float32(text);
        }

        @Override
        public String marshal(Float value) {
            return value == null ? null : Texts.write(value);
        }
    }

    /** xsd:double. */
    public static final class Float64 extends XmlAdapter<String, Double> {
        @Override
        public Double unmarshal(String text) {
            return Texts.float64(text);
        }

        @Override
        public String marshal(Double value) {
            return value == null ? null : Texts.write(value);
        }
    }

    /** xsd:base64Binary. */
    public static final class Bytes extends XmlAdapter<String, byte[]> {
        @Override
        public byte[] unmarshal(String text) {
            return Texts.bytes(text);
        }

        @Override
        public String marshal(byte[] value) {
            return value == null ? null : Base64.getEncoder().encodeToString(value);
        }
    }

    /** A timestamp. */
    public static final class Timestamp extends XmlAdapter<String, Instant> {
        @Override
        public Instant unmarshal(String text) {
            return Texts.instant(text.trim());
        }

        @Override
        public String marshal(Instant value) {
            return value == null ? null : Texts.write(value);
        }
    }

    /** A duration. */
    public static final class Length extends XmlAdapter<String, Duration> {
        @Override
        public Duration unmarshal(String text) {
            return Texts.duration(text.trim());
        }

        @Override
        public String marshal(Duration value) {
            return value == null ? null : Texts.write(value);
        }
    }
}
