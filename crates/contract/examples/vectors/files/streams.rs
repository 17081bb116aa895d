//! Feeds and the items of clients.

use serde::Serialize;
use wirelab_contract::stream::{FeedRequest, Item, PushReply};
use wirelab_contract::streams::{self, Schedule};

#[derive(Debug, Serialize)]
pub struct StreamVectors {
    feeds: Vec<FeedVector>,
    refused: Vec<RefusedVector>,
    pushes: Vec<PushVector>,
}

#[derive(Debug, Serialize)]
struct FeedVector {
    name: &'static str,
    request: FeedRequest,
    items: Vec<DueItem>,
}

#[derive(Debug, Serialize)]
struct DueItem {
    index: i32,
    due_ns: u64,
    text: String,
}

#[derive(Debug, Serialize)]
struct RefusedVector {
    name: &'static str,
    request: FeedRequest,
    error: String,
}

#[derive(Debug, Serialize)]
struct PushVector {
    name: &'static str,
    items: Vec<Item>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<PushReply>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub fn vectors() -> StreamVectors {
    StreamVectors {
        feeds: FEEDS.iter().map(feed).collect(),
        refused: REFUSED.iter().map(refuse).collect(),
        pushes: pushes(),
    }
}

/// Name; count, bytes, gap, pattern and seed of a request.
type Row = (&'static str, i32, i32, i64, &'static str, i64);

#[rustfmt::skip]
const FEEDS: [Row; 11] = [
    ("constant gaps", 5, 16, 1_000, "constant", 1),
    ("no gaps and no text", 3, 0, 0, "constant", 0),
    ("one item", 1, 1, 60_000_000, "pause", 7),
    ("bursts of ten", 23, 10, 500, "bursts", 2),
    ("a pause after an even half", 6, 11, 2_000, "pause", 3),
    ("a pause after an odd half", 7, 9, 2_000, "pause", 4),
    ("tokens", 20, 12, 20_000, "tokens", 42),
    ("tokens without gaps", 4, 4, 0, "tokens", 5),
    ("tokens of the greatest gap and seed", 6, 100, 60_000_000, "tokens", i64::MAX),
    ("tokens of a negative seed", 8, 21, 3, "tokens", -1),
    ("tokens of the least seed", 4, 64, 1, "tokens", i64::MIN),
];

#[rustfmt::skip]
const REFUSED: [Row; 13] = [
    ("no items", 0, 1, 1, "constant", 0),
    ("negative count", -1, 1, 1, "constant", 0),
    ("too many items", 1_000_001, 1, 1, "constant", 0),
    ("negative bytes", 1, -1, 1, "constant", 0),
    ("too many bytes in an item", 1, 65_537, 1, "constant", 0),
    ("negative gap", 1, 1, -1, "constant", 0),
    ("gap too long", 1, 1, 60_000_001, "constant", 0),
    ("no pattern", 1, 1, 1, "", 0),
    ("unknown pattern", 1, 1, 1, "Constant", 0),
    ("too many bytes in all", 16_385, 65_536, 1, "constant", 0),
    ("lasts too long", 61, 1, 60_000_000, "constant", 0),
    ("the first error counts", 0, -1, -1, "", 0),
    ("bytes before duration", 1_000_000, 65_536, 60_000_000, "constant", 0),
];

fn request(&(_, count, bytes, gap_us, pattern, seed): &Row) -> FeedRequest {
    FeedRequest {
        count,
        bytes,
        gap_us,
        pattern: pattern.to_owned(),
        seed,
    }
}

fn feed(row: &Row) -> FeedVector {
    let request = request(row);
    let schedule = Schedule::of(&request).expect("a legal request");
    let texts = schedule.clone();
    let items = schedule.map(|due| DueItem {
        index: due.index,
        due_ns: due.due_ns,
        text: texts.text(due.index),
    });
    FeedVector {
        name: row.0,
        request,
        items: items.collect(),
    }
}

fn refuse(row: &Row) -> RefusedVector {
    let request = request(row);
    let error = Schedule::of(&request).expect_err("a request beyond a limit");
    RefusedVector {
        name: row.0,
        request,
        error: error.to_string(),
    }
}

fn pushes() -> Vec<PushVector> {
    let request = FeedRequest {
        seed: 9,
        ..streams::sample(8)
    };
    let texts = Schedule::of(&request).expect("a legal request");
    let three = [0, 1, 2].map(|index| texts.text(index));
    vec![
        push("no items", &[]),
        push("one empty text", &[(0, "")]),
        push(
            "three items",
            &[(0, &three[0]), (1, &three[1]), (2, &three[2])],
        ),
        push("text beyond ASCII", &[(0, "Größe"), (1, "ή"), (2, "😀")]),
        push("begins at 1", &[(1, "a")]),
        push("twice the same", &[(0, "a"), (0, "a")]),
        push("one is missing", &[(0, "a"), (2, "a")]),
    ]
}

fn push(name: &'static str, items: &[(i32, &str)]) -> PushVector {
    let items = items.iter().map(|(index, text)| Item {
        index: *index,
        text: (*text).to_owned(),
        ..Item::default()
    });
    let items: Vec<Item> = items.collect();
    let answer = streams::push(&items);
    PushVector {
        name,
        items,
        error: answer.as_ref().err().map(ToString::to_string),
        reply: answer.ok(),
    }
}
