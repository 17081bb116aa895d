//! The examination of `stream`: schedules, texts, times, and the limits of requests.

use wirelab_contract::Call;
use wirelab_contract::stream::{FeedRequest, Item};
use wirelab_contract::streams::{GAP_US_MAX, ITEMS_MAX, Pattern, TEXT_BYTES_MAX, sample};
use wirelab_contract::texts::SplitMix64;

use crate::items::item;
use crate::walk::Walk;

/// Random feeds that are tried.
const FEEDS: usize = 8;

/// Feeds of each pattern, and streams of items of the client.
pub(crate) fn operations(walk: &mut Walk, seed: u64) {
    for pattern in Pattern::ALL {
        let request = FeedRequest {
            count: 23,
            bytes: 21,
            gap_us: 500,
            pattern: pattern.name().to_owned(),
            seed: seed.cast_signed(),
        };
        feed(walk, pattern.name(), request);
    }
    let mut numbers = SplitMix64::new(seed);
    for _ in 0..FEEDS {
        feed(walk, "a random feed", random_feed(&mut numbers));
    }
    feed(walk, "no gaps and no texts", feed_of(1_000, 0, 0));
    feed(
        walk,
        "a negative seed",
        FeedRequest {
            seed: -1,
            ..sample(8)
        },
    );
    for count in [0, 1, 100] {
        let items: Vec<Item> = (0..count).map(|index| item(index, "a€😀\"\\\n")).collect();
        walk.step("items of the client", &Call::Push(items.clone()))
            .ok();
        walk.step("items of the client", &Call::Chat(items)).ok();
    }
}

/// Requests that are refused.
pub(crate) fn errors(walk: &mut Walk) {
    let good = || sample(8);
    let requests = [
        ("no items", FeedRequest { count: 0, ..good() }),
        (
            "negative count",
            FeedRequest {
                count: -1,
                ..good()
            },
        ),
        (
            "negative bytes",
            FeedRequest {
                bytes: -1,
                ..good()
            },
        ),
        (
            "negative gap",
            FeedRequest {
                gap_us: -1,
                ..good()
            },
        ),
        (
            "no pattern",
            FeedRequest {
                pattern: String::new(),
                ..good()
            },
        ),
        (
            "unknown pattern",
            FeedRequest {
                pattern: "Tokens".into(),
                ..good()
            },
        ),
        (
            "the first error counts",
            FeedRequest {
                bytes: -1,
                gap_us: -1,
                ..good()
            },
        ),
        (
            "too large before too long",
            feed_of(ITEMS_MAX, TEXT_BYTES_MAX as i32, GAP_US_MAX),
        ),
    ];
    for (name, request) in requests {
        feed(walk, name, request);
    }
    let streams = [
        ("begins at 1", vec![item(1, "a")]),
        ("twice the same", vec![item(0, "a"), item(0, "a")]),
        ("one is missing", vec![item(0, "a"), item(2, "a")]),
    ];
    for (name, items) in streams {
        walk.step(name, &Call::Push(items)).ok();
    }
    // The error of a chat after its first reply is the end of a stream, which the model does not
    // describe: only an error at its begin can be compared.
    walk.step("begins at 1", &Call::Chat(vec![item(1, "a")]))
        .ok();
}

/// Requests at the limits, and one beyond them.
pub(crate) fn limits(walk: &mut Walk) {
    let most = TEXT_BYTES_MAX as i32;
    feed(walk, "the longest texts", feed_of(3, most, 0));
    feed(walk, "longer texts", feed_of(3, most + 1, 0));
    feed(walk, "too many items", feed_of(ITEMS_MAX + 1, 0, 0));
    feed(walk, "longer gap", feed_of(1, 0, GAP_US_MAX + 1));
    feed(walk, "too many bytes", feed_of(16_385, most, 0));
    feed(walk, "too long", feed_of(61, 0, GAP_US_MAX));
    let longest = "x".repeat(TEXT_BYTES_MAX as usize);
    walk.step("the longest text", &Call::Push(vec![item(0, &longest)]))
        .ok();
    let longer = longest + "x";
    walk.step("a longer text", &Call::Push(vec![item(0, &longer)]))
        .ok();
}

fn feed(walk: &mut Walk, name: &str, request: FeedRequest) {
    walk.step(name, &Call::Feed(request)).ok();
}

fn feed_of(count: i32, bytes: i32, gap_us: i64) -> FeedRequest {
    FeedRequest {
        count,
        bytes,
        gap_us,
        ..sample(bytes)
    }
}

fn random_feed(numbers: &mut SplitMix64) -> FeedRequest {
    let mut below = |most: u64| numbers.next_u64() % most;
    FeedRequest {
        count: 1 + below(40) as i32,
        bytes: below(200) as i32,
        gap_us: below(2_000) as i64,
        pattern: Pattern::ALL[below(4) as usize].name().to_owned(),
        seed: below(u64::MAX).cast_signed(),
    }
}
