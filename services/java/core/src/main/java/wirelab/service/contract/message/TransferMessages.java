package wirelab.service.contract.message;

import jakarta.xml.bind.annotation.XmlRootElement;
import java.util.ArrayList;
import java.util.List;

/** The messages of {@code transfer}; fields are named as in the .proto. */
public final class TransferMessages {
    /** The namespace of its XML. */
    public static final String NAMESPACE = "urn:wirelab:transfer:v1";

    private TransferMessages() {}

    /** Message {@code HelloRequest}. */
    @XmlRootElement(name = "HelloRequest", namespace = NAMESPACE)
    public static final class HelloRequest {
    }

    /** Message {@code HelloReply}. */
    @XmlRootElement(name = "HelloReply", namespace = NAMESPACE)
    public static final class HelloReply {
        public String text = "";

        /** All zero. */
        public HelloReply() {}

        /** With these fields. */
        public HelloReply(String text) {
            this.text = text;
        }
    }

    /** Message {@code HelloBytesReply}. */
    @XmlRootElement(name = "HelloBytesReply", namespace = NAMESPACE)
    public static final class HelloBytesReply {
        public byte[] text = {};

        /** All zero. */
        public HelloBytesReply() {}

        /** With these fields. */
        public HelloBytesReply(byte[] text) {
            this.text = text;
        }
    }

    /** Message {@code Record}. */
    public static final class Record {
        public long id;
        public int quantity;
        public String item = "";
        public String remark = "";
    }

    /** Message {@code SubmitRequest}. */
    @XmlRootElement(name = "SubmitRequest", namespace = NAMESPACE)
    public static final class SubmitRequest {
        public String batch = "";
        public List<Record> records = new ArrayList<>();
    }

    /** Message {@code Refusal}. */
    public static final class Refusal {
        public long id;
        public String reason = "";

        /** All zero. */
        public Refusal() {}

        /** With these fields. */
        public Refusal(long id, String reason) {
            this.id = id;
            this.reason = reason;
        }
    }

    /** Message {@code SubmitReply}. */
    @XmlRootElement(name = "SubmitReply", namespace = NAMESPACE)
    public static final class SubmitReply {
        public String batch = "";
        public int accepted;
        public long quantity_total;
        public List<Refusal> refused = new ArrayList<>();

        /** All zero. */
        public SubmitReply() {}

        /** With these fields. */
        public SubmitReply(String batch, int accepted, long quantity_total, List<Refusal> refused) {
            this.batch = batch;
            this.accepted = accepted;
            this.quantity_total = quantity_total;
            this.refused = refused;
        }
    }

    /** Message {@code UploadRequest}. */
    @XmlRootElement(name = "UploadRequest", namespace = NAMESPACE)
    public static final class UploadRequest {
        public byte[] data = {};
    }

    /** Message {@code UploadReply}. */
    @XmlRootElement(name = "UploadReply", namespace = NAMESPACE)
    public static final class UploadReply {
        public long length;
        public String sha256 = "";

        /** All zero. */
        public UploadReply() {}

        /** With these fields. */
        public UploadReply(long length, String sha256) {
            this.length = length;
            this.sha256 = sha256;
        }
    }
}
