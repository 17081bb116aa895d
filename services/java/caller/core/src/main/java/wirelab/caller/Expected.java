package wirelab.caller;

import java.nio.charset.StandardCharsets;
import java.util.List;
import wirelab.service.contract.ApplicationError;
import wirelab.service.contract.Calendar;
import wirelab.service.contract.Records;
import wirelab.service.contract.Transfer;
import wirelab.service.contract.message.CalendarMessages;
import wirelab.service.contract.message.ChargingMessages;
import wirelab.service.contract.message.RecordsMessages;
import wirelab.service.contract.message.TransferMessages;

/**
 * What the reply to a call must say. One that depends on earlier calls of anybody is bound by rules that hold
 * in every state, as in the engine ({@code crates/wire/src/codec/expected.rs}).
 */
final class Expected {
    /** Throws what is wrong with a reply. */
    private interface Rule {
        void check(Object reply) throws Failure;
    }

    private static final int SLOTS = 48;

    private final Rule rule;
    private final Chunks chunks;

    private Expected(Rule rule, Chunks chunks) {
        this.rule = rule;
        this.chunks = chunks;
    }

    void check(Object reply) throws Failure {
        if (reply == null) {
            throw Failure.wrong("there is no reply");
        }
        rule.check(reply);
    }

    Chunks chunks() {
        return chunks;
    }

    /** Of a call with one request and one reply; {@code text} is that of Hello. */
    static Expected of(String operation, Object request, String text) {
        return new Expected(rule(operation, request, text), null);
    }

    /** Of an upload in chunks. */
    static Expected ofUpload(Chunks chunks) {
        return new Expected(same(makeUploadReply(chunks.data())), chunks);
    }

    /** Of a download, whose chunks are compared as they come. */
    static Expected ofDownload(Chunks chunks) {
        return new Expected(reply -> {}, chunks);
    }

    private static Rule same(Object expected) {
        return reply -> Difference.check("", expected, reply);
    }

    private static Rule rule(String operation, Object request, String text) {
        try {
            return switch (operation) {
                case "Hello" -> same(new TransferMessages.HelloReply(text));
                case "HelloBytes" -> same(new TransferMessages.HelloBytesReply(
                        text.getBytes(StandardCharsets.US_ASCII)));
                case "Submit" -> same(makeSubmitReply((TransferMessages.SubmitRequest) request));
                case "Upload" -> same(makeUploadReply(((TransferMessages.UploadRequest) request).data));
                case "Deploy" -> same(new CalendarMessages.DeployReply(
                        new Calendar().deploy(((CalendarMessages.DeployRequest) request).document)));
                case "Book" -> same(makeBookReply((CalendarMessages.BookRequest) request));
                case "Allocate" -> allocated((RecordsMessages.AllocateRequest) request);
                case "FindAllocation" -> found(((RecordsMessages.FindAllocationRequest) request).groupId);
                case "ConfirmAction" -> {
                    int cn = ((ChargingMessages.ConfirmActionRequest) request).cn;
                    yield reply -> range("cn", ((ChargingMessages.ConfirmActionReply) reply).cn, cn, cn);
                }
                default -> Expected::checkRules;
            };
        } catch (ApplicationError error) {
            return reply -> {
                throw Failure.wrong("a reply, not the error " + error.getMessage());
            };
        }
    }

    private static TransferMessages.SubmitReply makeSubmitReply(TransferMessages.SubmitRequest ask)
            throws ApplicationError {
        Transfer.checkBatch(ask.batch, ask.records.size());
        TransferMessages.SubmitReply reply = new TransferMessages.SubmitReply();
        reply.batch = ask.batch;
        for (TransferMessages.Record record : ask.records) {
            String reason = Transfer.refusalReason(record.quantity, record.item);
            if (reason == null) {
                reply.accepted++;
                reply.quantity_total += record.quantity;
            } else {
                reply.refused.add(new TransferMessages.Refusal(record.id, reason));
            }
        }
        return reply;
    }

    private static TransferMessages.UploadReply makeUploadReply(byte[] data) {
        return new TransferMessages.UploadReply(data.length, Transfer.sha256(data));
    }

    private static CalendarMessages.BookReply makeBookReply(CalendarMessages.BookRequest ask) throws ApplicationError {
        CalendarMessages.Entry entry =
                new CalendarMessages.Entry(ask.slot, ask.title, ask.open, ask.weight);
        int number = new Calendar().book(ask.owner, ask.day, entry, ask.note);
        return new CalendarMessages.BookReply(number, ask.owner, ask.title);
    }

    /** Of an allocation, whose group is the service's choice, but positive. */
    private static Rule allocated(RecordsMessages.AllocateRequest ask) {
        RecordsMessages.Team team = new RecordsMessages.Team(ask.name, ask.id, ask.courseCode);
        Records.Partner second = Records.initialPartner(Math.floorMod(ask.id, Records.PARTNERS));
        team.join(second.name(), second.id());
        return reply -> {
            RecordsMessages.AllocateReply found = (RecordsMessages.AllocateReply) reply;
            Difference.check("message", Records.MESSAGE, found.message);
            if (found.teamDetails == null) {
                throw Failure.wrong("teamDetails is absent");
            }
            positive("teamDetails.groupId", found.teamDetails.groupId);
            RecordsMessages.Team same = new RecordsMessages.Team(team.member1, team.member1id, team.courseCode);
            same.join(team.member2, team.member2id);
            same.groupId = found.teamDetails.groupId;
            Difference.check("teamDetails", same, found.teamDetails);
        };
    }

    /** The error "no such group" is right only as long as nobody has stored that group. */
    private static Rule found(int group) {
        long n = (long) group - Records.FIRST_GROUP;
        return n >= 0 && n < Records.ALLOCATIONS
                ? same(new RecordsMessages.FindAllocationReply(Records.initialTeam((int) n)))
                : reply -> {};
    }

    /**
     * Numbers are positive; 0 <= reserved <= balance; no team of the start is lost; slots are a day's, in
     * their order.
     */
    private static void checkRules(Object reply) throws Failure {
        if (reply instanceof ChargingMessages.CreditReply found) {
            positive("cn", found.cn);
        } else if (reply instanceof ChargingMessages.DirectDebitReply found) {
            positive("cn", found.cn);
        } else if (reply instanceof ChargingMessages.DebitReservationReply found) {
            positive("cn", found.cn);
        } else if (reply instanceof ChargingMessages.ReleaseResReply found) {
            positive("cn", found.cn);
        } else if (reply instanceof ChargingMessages.ReserveReply found) {
            positive("res", found.res);
            positive("cn", found.cn);
        } else if (reply instanceof ChargingMessages.CreditControlReply found) {
            range("balance", found.balance, 0, Integer.MAX_VALUE);
            range("reserved", found.reserved, 0, found.balance);
        } else if (reply instanceof RecordsMessages.CountAllocationsReply found) {
            range("count", found.count, Records.ALLOCATIONS, Long.MAX_VALUE);
        } else if (reply instanceof CalendarMessages.EntriesReply found) {
            checkSlots(found.entries);
        }
    }

    private static void checkSlots(List<CalendarMessages.Entry> entries) throws Failure {
        int least = 0;
        for (int at = 0; at < entries.size(); at++) {
            int slot = entries.get(at).slot;
            range("entries[" + at + "].slot", slot, least, SLOTS - 1);
            least = slot + 1;
        }
    }

    private static void positive(String field, int found) throws Failure {
        range(field, found, 1, Integer.MAX_VALUE);
    }

    private static void range(String field, long found, long least, long most) throws Failure {
        if (found < least || found > most) {
            String wanted = least == most ? String.valueOf(least) : least + " to " + most;
            throw Failure.wrong(field + " is " + found + ", not " + wanted);
        }
    }
}
