package wirelab.service.contract.message;

import jakarta.xml.bind.annotation.XmlRootElement;
import java.util.ArrayList;
import java.util.List;

/** The messages of {@code calendar}; fields are named as in the .proto. */
public final class CalendarMessages {
    /** The namespace of its XML. */
    public static final String NAMESPACE = "urn:wirelab:calendar:v1";

    private CalendarMessages() {}

    /** Message {@code DeployRequest}. */
    @XmlRootElement(name = "DeployRequest", namespace = NAMESPACE)
    public static final class DeployRequest {
        public String document = "";
    }

    /** Message {@code DeployReply}. */
    @XmlRootElement(name = "DeployReply", namespace = NAMESPACE)
    public static final class DeployReply {
        public String status = "";

        /** All zero. */
        public DeployReply() {}

        /** With these fields. */
        public DeployReply(String status) {
            this.status = status;
        }
    }

    /** Message {@code BookRequest}. */
    @XmlRootElement(name = "BookRequest", namespace = NAMESPACE)
    public static final class BookRequest {
        public String owner = "";
        public int day;
        public int slot;
        public String title = "";
        public boolean open;
        public double weight;
        public String note = "";
    }

    /** Message {@code BookReply}. */
    @XmlRootElement(name = "BookReply", namespace = NAMESPACE)
    public static final class BookReply {
        public int number;
        public String owner = "";
        public String title = "";

        /** All zero. */
        public BookReply() {}

        /** With these fields. */
        public BookReply(int number, String owner, String title) {
            this.number = number;
            this.owner = owner;
            this.title = title;
        }
    }

    /** Message {@code EntriesRequest}. */
    @XmlRootElement(name = "EntriesRequest", namespace = NAMESPACE)
    public static final class EntriesRequest {
        public String owner = "";
        public int day;
    }

    /** Message {@code Entry}. */
    public static final class Entry {
        public int slot;
        public String title = "";
        public boolean open;
        public double weight;

        /** All zero. */
        public Entry() {}

        /** With these fields. */
        public Entry(int slot, String title, boolean open, double weight) {
            this.slot = slot;
            this.title = title;
            this.open = open;
            this.weight = weight;
        }
    }

    /** Message {@code EntriesReply}. */
    @XmlRootElement(name = "EntriesReply", namespace = NAMESPACE)
    public static final class EntriesReply {
        public List<Entry> entries = new ArrayList<>();

        /** All zero. */
        public EntriesReply() {}

        /** With these fields. */
        public EntriesReply(List<Entry> entries) {
            this.entries = entries;
        }
    }
}
