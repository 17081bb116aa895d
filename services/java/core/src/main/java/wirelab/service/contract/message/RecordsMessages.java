package wirelab.service.contract.message;

import jakarta.xml.bind.annotation.XmlRootElement;

/** The messages of {@code records}; fields are named as in the .proto. */
public final class RecordsMessages {
    /** The namespace of its XML. */
    public static final String NAMESPACE = "urn:wirelab:records:v1";

    private RecordsMessages() {}

    /** Message {@code AllocateRequest}. */
    @XmlRootElement(name = "AllocateRequest", namespace = NAMESPACE)
    public static final class AllocateRequest {
        public String name = "";
        public int id;
        public String courseCode = "";
    }

    /** Message {@code Team}. */
    public static final class Team {
        public String member1 = "";
        public String member2 = "";
        public int member1id;
        public int member2id;
        public String courseCode = "";
        public int groupId;

        /** All zero. */
        public Team() {}

        /** Of one student in a course, without a second one and a group yet. */
        public Team(String member1, int member1id, String courseCode) {
            this.member1 = member1;
            this.member1id = member1id;
            this.courseCode = courseCode;
        }

        /** Takes in the second student. */
        public void join(String name, int id) {
            member2 = name;
            member2id = id;
        }
    }

    /** Message {@code AllocateReply}. */
    @XmlRootElement(name = "AllocateReply", namespace = NAMESPACE)
    public static final class AllocateReply {
        public String message = "";
        public Team teamDetails;

        /** All zero. */
        public AllocateReply() {}

        /** With these fields. */
        public AllocateReply(String message, Team teamDetails) {
            this.message = message;
            this.teamDetails = teamDetails;
        }
    }

    /** Message {@code FindAllocationRequest}. */
    @XmlRootElement(name = "FindAllocationRequest", namespace = NAMESPACE)
    public static final class FindAllocationRequest {
        public int groupId;
    }

    /** Message {@code FindAllocationReply}. */
    @XmlRootElement(name = "FindAllocationReply", namespace = NAMESPACE)
    public static final class FindAllocationReply {
        public Team teamDetails;

        /** All zero. */
        public FindAllocationReply() {}

        /** With these fields. */
        public FindAllocationReply(Team teamDetails) {
            this.teamDetails = teamDetails;
        }
    }

    /** Message {@code CountAllocationsRequest}. */
    @XmlRootElement(name = "CountAllocationsRequest", namespace = NAMESPACE)
    public static final class CountAllocationsRequest {}

    /** Message {@code CountAllocationsReply}. */
    @XmlRootElement(name = "CountAllocationsReply", namespace = NAMESPACE)
    public static final class CountAllocationsReply {
        public long count;

        /** All zero. */
        public CountAllocationsReply() {}

        /** With these fields. */
        public CountAllocationsReply(long count) {
            this.count = count;
        }
    }
}
