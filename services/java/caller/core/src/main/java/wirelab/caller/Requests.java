package wirelab.caller;

import java.util.List;
import java.util.Map;
import java.util.Set;
import wirelab.service.contract.Records;
import wirelab.service.contract.Text;
import wirelab.service.contract.Transfer;
import wirelab.service.contract.message.CalendarMessages;
import wirelab.service.contract.message.ChargingMessages;
import wirelab.service.contract.message.RecordsMessages;
import wirelab.service.contract.message.TransferMessages;

/** The requests of the engine's workloads ({@code crates/contract/src/workload.rs}). */
final class Requests {
    /** By contract, the operations that there are. */
    static final Map<String, List<String>> OPERATIONS = Map.of(
            "transfer", List.of("Hello", "HelloBytes", "Submit", "Upload", "UploadStream", "Download"),
            "charging", List.of("Credit", "DirectDebit", "Reserve", "DebitReservation", "ReleaseRes",
                    "CreditControl", "ConfirmAction"),
            "calendar", List.of("Deploy", "Book", "Entries"),
            "records", List.of("Allocate", "FindAllocation", "CountAllocations"));

    /** Those whose requests or replies are many messages. */
    static final Set<String> STREAMS = Set.of("UploadStream", "Download");

    /** Those that take a number which only an earlier reply can give. */
    static final Set<String> CARRIED = Set.of("DebitReservation", "ReleaseRes", "ConfirmAction");

    /** The functions of charging, each with its calls (Elfwing and Paulsson 2002, appendix B.2). */
    static final Map<String, List<String>> FUNCTIONS = Map.of(
            "CreditControl", List.of("CreditControl"),
            "DirectDebit", List.of("DirectDebit", "ConfirmAction"),
            "Credit", List.of("Credit", "ConfirmAction"),
            "ReservationRelease", List.of("Reserve", "ConfirmAction", "ReleaseRes", "ConfirmAction"),
            "ReservationDebit", List.of("Reserve", "ConfirmAction", "DebitReservation", "ConfirmAction"));

    static final int CHUNK_BYTES_MAX = 1 << 20;

    private static final int HELLO_BYTES_MAX = 64 << 20;
    private static final int DOCUMENT_BYTES_MAX = 1 << 20;
    // Amounts of Elfwing and Paulsson (2002), appendix C.
    private static final int CREDIT_AMOUNT = 147;
    private static final int DIRECT_DEBIT_AMOUNT = 438;
    private static final int RESERVED_AMOUNT = 520;
    // Sizes of Kangasharju, Tarkoma and Raatikainen (2003), table 1, less what the rest of an envelope takes.
    private static final int DOCUMENT_XML_BYTES = 655 - 246;
    private static final int BOOK_REPLY_TEXT_BYTES = 464 - 264;
    private static final int BOOK_TEXT_BYTES = 652 - 326;
    private static final int DAYS = 364;
    private static final int SLOTS = 48;
    private static final int OWNERS = 9_000;
    /** Of four characters each, and exact in binary. */
    private static final double[] WEIGHTS = {0.25, 1.25, 2.25, 3.25, 0.75, 1.75, 2.75, 3.75};

    private static final String TITLE = "Meeting of the working group on wireless access, second part: what was "
            + "measured since autumn, what was not, and who writes the report that the project owes its "
            + "sponsors at the end of the quarter";
    private static final String NOTE = "Bring the printed tables. The room is booked for half an hour only; the "
            + "door code changes at noon, so come early or ring the bell of the office next to it.";

    private Requests() {}

    /** Whether the large part of the operation can have that many bytes; refuses others. */
    static void checkSize(String operation, long bytes) {
        long least = operation.equals("Submit") ? SubmitRequests.BYTES_MIN : 0;
        long most = switch (operation) {
            case "Hello", "HelloBytes" -> HELLO_BYTES_MAX;
            case "Submit" -> SubmitRequests.BYTES_MAX;
            case "Upload", "UploadStream", "Download" -> Transfer.BYTES_MAX;
            case "Deploy" -> DOCUMENT_BYTES_MAX;
            default -> -1;
        };
        String text = "bytes = " + bytes + ": ";
        if (most < 0) {
            Refusal.unless(bytes == 0, text + "requests of " + operation + " have one size; use bytes = 0");
        } else {
            Refusal.unless(
                    bytes >= least && bytes <= most, text + operation + " takes " + least + " to " + most + " bytes");
        }
    }

    /** The request that is the same for all users; {@code bytes} has been checked. */
    static Object makeFixed(String operation, int bytes) {
        return switch (operation) {
            case "Hello", "HelloBytes" -> new TransferMessages.HelloRequest();
            case "Submit" -> new SubmitRequests(bytes).make();
            case "Upload", "UploadStream" -> upload(bytes);
            case "Deploy" -> deploy(bytes);
            case "Book" -> book(0, 0);
            case "Entries" -> entries();
            case "Allocate" -> allocate();
            case "FindAllocation" -> find(Records.FIRST_GROUP);
            case "CountAllocations" -> new RecordsMessages.CountAllocationsRequest();
            default -> charging(operation, 1, 0, 0);
        };
    }

    private static TransferMessages.UploadRequest upload(int bytes) {
        TransferMessages.UploadRequest request = new TransferMessages.UploadRequest();
        request.data = Text.pattern(0, bytes);
        return request;
    }

    private static RecordsMessages.FindAllocationRequest find(int group) {
        RecordsMessages.FindAllocationRequest request = new RecordsMessages.FindAllocationRequest();
        request.groupId = group;
        return request;
    }

    /** The student of Jagannathan (2022), figure 2.1. */
    private static RecordsMessages.AllocateRequest allocate() {
        RecordsMessages.AllocateRequest request = new RecordsMessages.AllocateRequest();
        request.name = "Alice";
        request.id = 113_517;
        request.courseCode = "CS31245";
        return request;
    }

    private static CalendarMessages.EntriesRequest entries() {
        CalendarMessages.BookRequest first = book(0, 0);
        CalendarMessages.EntriesRequest request = new CalendarMessages.EntriesRequest();
        request.owner = first.owner;
        request.day = first.day;
        return request;
    }

    /** The study's document, an application's description in XML; with {@code bytes} another of that size. */
    private static CalendarMessages.DeployRequest deploy(int bytes) {
        String head = "<application name=\"calendar\"><class>CalendarService</class><scope>session</scope>"
                + "<method>book</method><method>entries</method><about>";
        String tail = "</about></application>";
        // Markup is escaped within the envelope, so its size in XML counts.
        int filler = DOCUMENT_XML_BYTES - xmlBytes(head) - xmlBytes(tail);
        CalendarMessages.DeployRequest request = new CalendarMessages.DeployRequest();
        request.document = bytes > 0 ? Text.text(bytes) : head + TITLE.substring(0, filler) + tail;
        return request;
    }

    private static int xmlBytes(String text) {
        int escaped = "&lt;".length() - 1;
        return text.length() + escaped * (int) text.chars().filter(letter -> letter == '<' || letter == '>').count();
    }

    /**
     * Booking {@code n}, from 0, of a user: the slots of a year in their order, then again from the first.
     * Requests and replies are of one size.
     */
    static CalendarMessages.BookRequest book(long user, long n) {
        int number = (int) (n % (DAYS * SLOTS));
        CalendarMessages.BookRequest request = new CalendarMessages.BookRequest();
        request.owner = String.format("user%04d@calendar.example.org", user % OWNERS);
        request.day = number / SLOTS + 1;
        request.slot = number % SLOTS;
        int title = BOOK_REPLY_TEXT_BYTES - digits(number) - request.owner.length();
        request.title = TITLE.substring(0, title);
        request.open = true;
        request.weight = WEIGHTS[(int) (n % WEIGHTS.length)];
        int note = BOOK_TEXT_BYTES - request.owner.length() - title - digits(request.day) - digits(request.slot);
        request.note = NOTE.substring(0, note);
        return request;
    }

    private static int digits(int number) {
        return String.valueOf(number).length();
    }

    /** A request of charging, with the numbers of earlier replies. */
    static Object charging(String operation, int account, int reservation, int confirmation) {
        switch (operation) {
            case "Credit" -> {
                ChargingMessages.CreditRequest request = new ChargingMessages.CreditRequest();
                request.id = account;
                request.am = CREDIT_AMOUNT;
                return request;
            }
            case "DirectDebit" -> {
                ChargingMessages.DirectDebitRequest request = new ChargingMessages.DirectDebitRequest();
                request.id = account;
                request.am = DIRECT_DEBIT_AMOUNT;
                return request;
            }
            case "Reserve" -> {
                ChargingMessages.ReserveRequest request = new ChargingMessages.ReserveRequest();
                request.id = account;
                request.am = RESERVED_AMOUNT;
                return request;
            }
            case "DebitReservation" -> {
                ChargingMessages.DebitReservationRequest request = new ChargingMessages.DebitReservationRequest();
                request.id = account;
                request.am = RESERVED_AMOUNT;
                request.res = reservation;
                return request;
            }
            case "ReleaseRes" -> {
                ChargingMessages.ReleaseResRequest request = new ChargingMessages.ReleaseResRequest();
                request.res = reservation;
                return request;
            }
            case "CreditControl" -> {
                ChargingMessages.CreditControlRequest request = new ChargingMessages.CreditControlRequest();
                request.id = account;
                return request;
            }
            case "ConfirmAction" -> {
                ChargingMessages.ConfirmActionRequest request = new ChargingMessages.ConfirmActionRequest();
                request.cn = confirmation;
                return request;
            }
            default -> throw new IllegalStateException("charging has no operation " + operation);
        }
    }
}
