//! The examination of `stream`: schedules, texts, times, and the limits of requests.

use wirelab_contract::Call;
use wirelab_contract::stream::{FeedRequest, Item};
use wirelab_contract::streams::{GAP_US_MAX, ITEMS_MAX, Pattern, Schedule, TEXT_BYTES_MAX, sample};
use wirelab_contract::texts::SplitMix64;

use crate::walk::{Walk, same};

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

fn item(index: i32, text: &str) -> Item {
    Item {
        index,
        text: text.to_owned(),
        ..Item::default()
    }
}

/// Compares the items of a feed with its schedule, and their times with each other. The error holds
/// what was expected and what was found.
pub(crate) fn compare_feed(schedule: &Schedule, found: &[Item]) -> Result<(), (String, String)> {
    same(
        &format!("{} items", schedule.total()),
        &format!("{} items", found.len()),
    )?;
    let received_ns = found.first().map_or(0, |item| item.received_ns);
    let mut before_ns = received_ns;
    for (due, item) in schedule.clone().zip(found) {
        let expected = Item {
            index: due.index,
            due_ns: due.due_ns as i64,
            sent_ns: item.sent_ns,
            received_ns: if due.index == 0 { received_ns } else { 0 },
            text: schedule.text(due.index),
        };
        same(&format!("{expected:?}"), &format!("{item:?}"))?;
        check_times(item, received_ns, before_ns)?;
        before_ns = item.sent_ns;
    }
    Ok(())
}

fn check_times(item: &Item, received_ns: i64, before_ns: i64) -> Result<(), (String, String)> {
    let due_ns = received_ns.saturating_add(item.due_ns);
    let expected = match item.sent_ns {
        _ if received_ns <= 0 => "received_ns of item 0 above 0",
        sent_ns if sent_ns < due_ns => "no item before it is due",
        sent_ns if sent_ns < before_ns => "no item before its predecessor",
        _ => return Ok(()),
    };
    let found = format!(
        "item {}: received_ns {received_ns}, due_ns {}, sent_ns {}",
        item.index, item.due_ns, item.sent_ns
    );
    Err((expected.to_owned(), found))
}

/// Compares the replies of a chat with what they must be, and their times with each other.
pub(crate) fn compare_chat(expected: &[Item], found: &[Item]) -> Result<(), (String, String)> {
    same(
        &format!("{} items", expected.len()),
        &format!("{} items", found.len()),
    )?;
    for (expected, item) in expected.iter().zip(found) {
        let expected = Item {
            sent_ns: item.sent_ns,
            received_ns: item.received_ns,
            ..expected.clone()
        };
        same(&format!("{expected:?}"), &format!("{item:?}"))?;
        check_times(item, item.received_ns, item.received_ns)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a right service sends, each item 1,000 ns after it was due.
    fn items() -> (Schedule, Vec<Item>) {
        let schedule = Schedule::of(&sample(8)).unwrap();
        let texts = schedule.clone();
        let items = schedule.clone().map(|due| Item {
            index: due.index,
            due_ns: due.due_ns as i64,
            sent_ns: 6_000 + due.due_ns as i64,
            received_ns: if due.index == 0 { 5_000 } else { 0 },
            text: texts.text(due.index),
        });
        (schedule.clone(), items.collect())
    }

    #[test]
    fn a_right_feed_passes() {
        let (schedule, items) = items();
        assert_eq!(compare_feed(&schedule, &items), Ok(()));
    }

    type Mistake = fn(&mut Vec<Item>);

    #[test]
    fn each_mistake_of_a_feed_is_found() {
        let mistakes: [(&str, Mistake); 8] = [
            ("one is missing", |items| drop(items.pop())),
            ("two change places", |items| items.swap(3, 4)),
            ("one comes twice", |items| items[4] = items[3].clone()),
            ("another text", |items| items[2].text.push('x')),
            ("another due time", |items| items[2].due_ns += 1),
            ("too early", |items| {
                items[5].sent_ns = items[5].due_ns + 4_999
            }),
            ("no time of receipt", |items| items[0].received_ns = 0),
            ("before its predecessor", |items| {
                items[5].sent_ns = items[6].sent_ns + 1;
            }),
        ];
        for (name, mistake) in mistakes {
            let (schedule, mut items) = items();
            mistake(&mut items);
            assert!(compare_feed(&schedule, &items).is_err(), "{name}");
        }
    }

    #[test]
    fn a_chat_must_answer_each_item_after_it_came() {
        let asked = [item(0, "a"), item(1, "b")];
        let answered = asked.clone().map(|item| Item {
            received_ns: 7,
            sent_ns: 8,
            ..item
        });
        assert_eq!(compare_chat(&asked, &answered), Ok(()));
        let mut early = answered.clone();
        early[1].sent_ns = 6;
        assert!(compare_chat(&asked, &early).is_err());
        assert!(compare_chat(&asked, &answered[..1]).is_err());
    }
}
