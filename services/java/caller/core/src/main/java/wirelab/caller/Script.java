package wirelab.caller;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.function.Function;
import wirelab.service.contract.Text;

/** Makes the calls of a group, arrival by arrival. Users share it. */
final class Script {
    private static final int STEPS_MAX = 100;

    /** Makes the call of one place in the sequence. */
    private record Step(String operation, Function<Arrival, Call> make) {}

    private final List<Step> steps = new ArrayList<>();
    final String contract;
    /** An arrival is a sequence of calls, which is recorded as such. */
    final boolean isSequence;

    /** Refuses a workload that cannot be made, by the name of what is at fault. */
    Script(Plan.Workload work) {
        contract = work.contract();
        Refusal.unless(
                Requests.OPERATIONS.containsKey(contract),
                "workload.contract: this caller calls transfer, charging, calendar and records, not " + contract);
        Refusal.unless(work.hasNoData(), "workload.data: this caller has no rows of values");
        Refusal.unless(work.hasNoItems(), "workload.items: this caller calls no streams of items");
        Refusal.unless(work.accounts() >= 1, "workload.accounts: at least one is needed");
        isSequence = !"contract".equals(work.kind());
        switch (String.valueOf(work.kind())) {
            case "contract" -> addOperation(work);
            case "sequence" -> addFunction(work);
            case "steps" -> addSteps(work);
            default -> throw new Refusal(
                    "workload.kind: this caller makes contract, sequence and steps, not " + work.kind());
        }
    }

    /** The operations that are called, each once, in the order of their first call. */
    List<String> operations() {
        return new ArrayList<>(new LinkedHashSet<>(steps.stream().map(Step::operation).toList()));
    }

    private void checkOperation(String operation) {
        Refusal.unless(
                Requests.OPERATIONS.get(contract).contains(operation),
                "workload.operation: contract " + contract + " has no operation " + operation);
        Refusal.unless(
                !Requests.CARRIED.contains(operation),
                "workload.operation: " + operation + " takes a number from an earlier reply; use workload kind sequence");
    }

    private void addOperation(Plan.Workload work) {
        String operation = String.valueOf(work.operation());
        checkOperation(operation);
        Call same = makeFixedCall(operation, work.bytes(), work.chunkBytes());
        int accounts = work.accounts();
        steps.add(new Step(operation, switch (operation) {
            case "Credit", "DirectDebit", "Reserve", "CreditControl" -> arrival ->
                    call(operation, Requests.charging(operation, arrival.account(accounts), 0, 0));
            case "Book" -> arrival -> call(operation, Requests.book(arrival.user, arrival.number));
            default -> arrival -> same;
        }));
    }

    private static Call makeFixedCall(String operation, long bytes, int chunkBytes) {
        Requests.checkSize(operation, bytes);
        int size = (int) bytes;
        if (!Requests.STREAMS.contains(operation)) {
            Object request = Requests.makeFixed(operation, size);
            String text = operation.startsWith("Hello") ? Text.text(size) : "";
            return new Call(operation, request, Expected.of(operation, request, text));
        }
        Refusal.unless(
                chunkBytes >= 1 && chunkBytes <= Requests.CHUNK_BYTES_MAX,
                "chunk_bytes = " + chunkBytes + ": chunks hold 1 to " + Requests.CHUNK_BYTES_MAX + " bytes");
        Chunks chunks = new Chunks(Text.pattern(0, size), chunkBytes);
        return new Call(operation, chunks, operation.equals("Download")
                ? Expected.ofDownload(chunks) : Expected.ofUpload(chunks));
    }

    private static Call call(String operation, Object request) {
        return new Call(operation, request, Expected.of(operation, request, ""));
    }

    private void addFunction(Plan.Workload work) {
        Refusal.unless(contract.equals("charging"), "workload.contract: sequences exist in charging only");
        List<String> operations = Requests.FUNCTIONS.get(String.valueOf(work.function()));
        Refusal.unless(operations != null, "workload.function: charging has no function " + work.function());
        for (String operation : operations) {
            steps.add(new Step(operation, arrival -> {
                int account = arrival.account(work.accounts());
                return call(operation, Requests.charging(
                        operation, account, arrival.reservation(), arrival.confirmation()));
            }));
        }
    }

    private void addSteps(Plan.Workload work) {
        int count = work.steps() == null ? 0 : work.steps().size();
        Refusal.unless(
                count >= 1 && count <= STEPS_MAX, "workload.steps: there are " + count + ", not 1 to " + STEPS_MAX);
        for (Plan.Step step : work.steps()) {
            addStep(step);
        }
    }

    private void addStep(Plan.Step step) {
        int at = steps.size();
        String operation = String.valueOf(step.operation());
        checkOperation(operation);
        Refusal.unless(
                !Requests.STREAMS.contains(operation), "steps[" + at + "]: " + operation + " is a stream of messages");
        Call same = makeFixedCall(operation, step.bytes(), 1);
        List<Carried> carried = new ArrayList<>();
        for (Plan.Carry carry : step.carry()) {
            int from = carry.step() == null ? at - 1 : carry.step();
            Refusal.unless(from >= 0 && from < at, "steps[" + at + "]: carry: there is no earlier step " + from);
            carried.add(Carried.of(from, steps.get(from).operation(), same.request(), carry));
        }
        steps.add(new Step(operation, carried.isEmpty() ? arrival -> same : arrival -> {
            Object request = Carried.copy(same.request());
            carried.forEach(field -> field.put(arrival.replies, request));
            return call(operation, request);
        }));
    }

    /** The arrival number {@code n}, from 0, of a user. */
    Arrival begin(long user, long n) {
        return new Arrival(user, n);
    }

    /** One call, or one sequence of calls. */
    final class Arrival {
        /** Of a closed load, or number of the arrival of an open one. */
        private final long user;

        private final long number;
        private final List<Object> replies = new ArrayList<>();
        private int step;

        private Arrival(long user, long number) {
            this.user = user;
            this.number = number;
        }

        /** The service numbers its accounts from 1. */
        private int account(int accounts) {
            return (int) (1 + user % accounts);
        }

        private int reservation() {
            return Carried.lastNumber(replies, "res");
        }

        private int confirmation() {
            return Carried.lastNumber(replies, "cn");
        }

        /** The call that comes next; null behind the last one. */
        Call next() {
            return step < steps.size() ? steps.get(step).make().apply(this) : null;
        }

        /** Notes the right reply to the call that was made last. */
        void take(Object reply) {
            step++;
            if (isSequence) {
                replies.add(reply);
            }
        }
    }
}
