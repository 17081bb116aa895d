package wirelab.service.contract;

import java.util.List;
import wirelab.service.contract.message.StreamMessages.FeedRequest;
import wirelab.service.contract.message.StreamMessages.Item;

/** The items of one Feed, in their order. */
public final class Schedule {
    /** The patterns by their names. */
    static final List<String> PATTERNS = List.of("constant", "bursts", "pause", "tokens");

    private static final int NS_PER_US = 1000;
    private static final int ITEMS_PER_BURST = 10;
    private static final int GAPS_OF_PAUSE = 20;
    private static final int GAPS_BEFORE_TOKEN = 8;

    private final FeedRequest ask;
    private final long gapNs;
    private final SplitMix gaps;
    /** The first state of the generators of texts. */
    private final long firstText;
    private int index;
    private long dueNs;

    /** Of a request that was checked. */
    public Schedule(FeedRequest ask) {
        this.ask = ask;
        gapNs = ask.gap_us * NS_PER_US;
        gaps = new SplitMix(ask.seed);
        firstText = new SplitMix(ask.seed).next();
    }

    /** Whether another item follows. */
    public boolean hasNext() {
        return index < ask.count;
    }

    /** The next item, with its text and the time at which it is due, ns from the receipt of the request. */
    public Item next() {
        dueNs = due();
        Item item = new Item();
        item.index = index;
        item.due_ns = dueNs;
        item.text = new SplitMix(firstText + index).text(ask.bytes);
        index++;
        return item;
    }

    private long due() {
        return switch (ask.pattern) {
            case "bursts" -> (long) index / ITEMS_PER_BURST * ITEMS_PER_BURST * gapNs;
            case "pause" -> (index + (index >= ask.count / 2 ? GAPS_OF_PAUSE : 0L)) * gapNs;
            case "tokens" -> index == 0 ? GAPS_BEFORE_TOKEN * gapNs
                    : dueNs + NS_PER_US * Long.remainderUnsigned(gaps.next(), 2 * ask.gap_us + 1);
            default -> index * gapNs;
        };
    }

    /** SplitMix64 (Steele, Lea, Flood 2014). */
    private static final class SplitMix {
        private long state;

        SplitMix(long state) {
            this.state = state;
        }

        long next() {
            state += Text.GAMMA;
            return Text.mix(state);
        }

        String text(int letters) {
            return Text.letters(letters, at -> next());
        }
    }
}
