package wirelab.service.contract.message;

import jakarta.xml.bind.annotation.XmlRootElement;

/** The messages of {@code charging}; fields are named as in the .proto. */
public final class ChargingMessages {
    /** The namespace of its XML. */
    public static final String NAMESPACE = "urn:wirelab:charging:v1";

    private ChargingMessages() {}

    /** Message {@code CreditRequest}. */
    @XmlRootElement(name = "CreditRequest", namespace = NAMESPACE)
    public static final class CreditRequest {
        public int id;
        public int am;
    }

    /** Message {@code CreditReply}. */
    @XmlRootElement(name = "CreditReply", namespace = NAMESPACE)
    public static final class CreditReply {
        public int cn;

        /** All zero. */
        public CreditReply() {}

        /** With these fields. */
        public CreditReply(int cn) {
            this.cn = cn;
        }
    }

    /** Message {@code DirectDebitRequest}. */
    @XmlRootElement(name = "DirectDebitRequest", namespace = NAMESPACE)
    public static final class DirectDebitRequest {
        public int id;
        public int am;
    }

    /** Message {@code DirectDebitReply}. */
    @XmlRootElement(name = "DirectDebitReply", namespace = NAMESPACE)
    public static final class DirectDebitReply {
        public int cn;

        /** All zero. */
        public DirectDebitReply() {}

        /** With these fields. */
        public DirectDebitReply(int cn) {
            this.cn = cn;
        }
    }

    /** Message {@code ReserveRequest}. */
    @XmlRootElement(name = "ReserveRequest", namespace = NAMESPACE)
    public static final class ReserveRequest {
        public int id;
        public int am;
    }

    /** Message {@code ReserveReply}. */
    @XmlRootElement(name = "ReserveReply", namespace = NAMESPACE)
    public static final class ReserveReply {
        public int res;
        public int cn;

        /** All zero. */
        public ReserveReply() {}

        /** With these fields. */
        public ReserveReply(int res, int cn) {
            this.res = res;
            this.cn = cn;
        }
    }

    /** Message {@code DebitReservationRequest}. */
    @XmlRootElement(name = "DebitReservationRequest", namespace = NAMESPACE)
    public static final class DebitReservationRequest {
        public int id;
        public int am;
        public int res;
    }

    /** Message {@code DebitReservationReply}. */
    @XmlRootElement(name = "DebitReservationReply", namespace = NAMESPACE)
    public static final class DebitReservationReply {
        public int cn;

        /** All zero. */
        public DebitReservationReply() {}

        /** With these fields. */
        public DebitReservationReply(int cn) {
            this.cn = cn;
        }
    }

    /** Message {@code ReleaseResRequest}. */
    @XmlRootElement(name = "ReleaseResRequest", namespace = NAMESPACE)
    public static final class ReleaseResRequest {
        public int res;
    }

    /** Message {@code ReleaseResReply}. */
    @XmlRootElement(name = "ReleaseResReply", namespace = NAMESPACE)
    public static final class ReleaseResReply {
        public int cn;

        /** All zero. */
        public ReleaseResReply() {}

        /** With these fields. */
        public ReleaseResReply(int cn) {
            this.cn = cn;
        }
    }

    /** Message {@code CreditControlRequest}. */
    @XmlRootElement(name = "CreditControlRequest", namespace = NAMESPACE)
    public static final class CreditControlRequest {
        public int id;
    }

    /** Message {@code CreditControlReply}. */
    @XmlRootElement(name = "CreditControlReply", namespace = NAMESPACE)
    public static final class CreditControlReply {
        public int balance;
        public int reserved;

        /** All zero. */
        public CreditControlReply() {}

        /** With these fields. */
        public CreditControlReply(int balance, int reserved) {
            this.balance = balance;
            this.reserved = reserved;
        }
    }

    /** Message {@code ConfirmActionRequest}. */
    @XmlRootElement(name = "ConfirmActionRequest", namespace = NAMESPACE)
    public static final class ConfirmActionRequest {
        public int cn;
    }

    /** Message {@code ConfirmActionReply}. */
    @XmlRootElement(name = "ConfirmActionReply", namespace = NAMESPACE)
    public static final class ConfirmActionReply {
        public int cn;

        /** All zero. */
        public ConfirmActionReply() {}

        /** With these fields. */
        public ConfirmActionReply(int cn) {
            this.cn = cn;
        }
    }
}
