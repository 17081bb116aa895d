//! What makes the items of a feed of the contract stream right.
//!
//! Each request has a seed of its own, from which the texts follow: an item of another stream is
//! therefore found, as is one that is missing, doubled, out of order, or due at another time.

use std::borrow::Cow;

use prost::Message as _;
use serde::Deserialize;
use wirelab_contract::stream::Item;
use wirelab_contract::streams::{Due, Schedule};
use wirelab_wire::codec::MessageFormat;

use super::stream::wrong;
use crate::call::items::{ItemState, ItemTimes};
use crate::call::rejection::Rejection;

/// How items are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemFormat {
    Json,
    Protobuf,
    /// Like every other message.
    Message(MessageFormat),
}

/// What the lateness of items counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemsDue {
    /// From the time of the feed's schedule.
    Scheduled,
    /// From when the service received the item that this one answers.
    Received,
}

/// What makes the items of feeds and chats right.
#[derive(Debug)]
pub(crate) struct ItemRule {
    format: ItemFormat,
    due: ItemsDue,
    /// By row of requests; at least one.
    schedules: Vec<Schedule>,
}

/// An item, its text where it lies if possible.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReadItem<'a> {
    index: i32,
    due_ns: i64,
    sent_ns: i64,
    received_ns: i64,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

impl From<Item> for ReadItem<'_> {
    fn from(item: Item) -> Self {
        ReadItem {
            index: item.index,
            due_ns: item.due_ns,
            sent_ns: item.sent_ns,
            received_ns: item.received_ns,
            text: item.text.into(),
        }
    }
}

impl ItemRule {
    pub(crate) fn new(format: ItemFormat, due: ItemsDue, schedules: Vec<Schedule>) -> ItemRule {
        ItemRule {
            format,
            due,
            schedules,
        }
    }

    /// The feed of a request of that row.
    pub(super) fn begin(&self, row: usize) -> Box<ItemState> {
        Box::new(ItemState::new(self.schedules[row].clone()))
    }

    /// Takes the next item, which was read at `state.read_at`.
    ///
    /// # Errors
    /// Why it is not the one that must come next.
    pub(super) fn take(&self, state: &mut ItemState, message: &[u8]) -> Result<(), Rejection> {
        let item = self
            .read(message)
            .map_err(|reason| wrong(reason).with_body(message))?;
        let Some(due) = state.missing.next() else {
            let count = state.missing.total();
            return Err(wrong(format!("an item after all {count}")).with_body(message));
        };
        check_content(&state.missing, due, &item)
            .and_then(|()| times(state, self.due, due, &item))
            .map(|times| state.times.push(times))
            .map_err(|reason| wrong(reason).with_body(message))
    }

    fn read<'a>(&self, message: &'a [u8]) -> Result<ReadItem<'a>, String> {
        match self.format {
            ItemFormat::Json => serde_json::from_slice(message)
                .map_err(|error| format!("an item is not JSON as it should be: {error}")),
            ItemFormat::Message(format) => {
                let item = format.read::<Item>(message);
                item.map(ReadItem::from)
                    .map_err(|error| format!("an item is not as it should be: {error}"))
            }
            ItemFormat::Protobuf => {
                let item = Item::decode(message);
                item.map(ReadItem::from)
                    .map_err(|error| format!("an item is not protobuf: {error}"))
            }
        }
    }
}

/// The feed has ended.
///
/// # Errors
/// When items are missing.
pub(super) fn check_end(state: Option<&ItemState>) -> Result<(), Rejection> {
    match state.map(|state| (state.missing.len(), state.missing.total())) {
        None => Err(wrong("no item came")),
        Some((0, _)) => Ok(()),
        Some((missing, count)) => Err(wrong(format!("{missing} of {count} items did not come"))),
    }
}

fn check_content(schedule: &Schedule, due: Due, item: &ReadItem) -> Result<(), String> {
    let Due { index, due_ns } = due;
    if item.index != index {
        return Err(format!("item {} instead of item {index}", item.index));
    }
    if u64::try_from(item.due_ns) != Ok(due_ns) {
        let found = item.due_ns;
        return Err(format!(
            "item {index} is due at {found} ns instead of {due_ns}"
        ));
    }
    let (text, expected) = (item.text.as_bytes(), schedule.text_bytes());
    if text.len() != expected {
        let found = text.len();
        return Err(format!(
            "item {index} has {found} bytes instead of {expected}"
        ));
    }
    match schedule.is_text(index, text) {
        true => Ok(()),
        false => Err(format!(
            "item {index} has the text of another stream or item"
        )),
    }
}

/// How late an item was, by its own times and that of the read.
fn times(
    state: &mut ItemState,
    items_due: ItemsDue,
    due: Due,
    item: &ReadItem,
) -> Result<ItemTimes, String> {
    let index = due.index;
    let ns = |name: &str, value: i64| {
        let ns = u64::try_from(value).ok().filter(|ns| *ns <= state.read_at);
        ns.ok_or_else(|| {
            format!(
                "item {index} has {name} {value}, after it was read: its service has another clock"
            )
        })
    };
    let sent = ns("sent_ns", item.sent_ns)?;
    let received = ns("received_ns", item.received_ns)?;
    match (items_due, index, received) {
        (ItemsDue::Received, _, 0) => {
            return Err(format!("item {index} does not say when it was received"));
        }
        (_, 0, 0) => return Err("item 0 does not say when the request was received".into()),
        // What an item that does not come is late by, nobody knows.
        (ItemsDue::Received, ..) | (_, _, 0) => {}
        (_, 0, _) => state.received_ns = received,
        (_, index, _) => return Err(format!("item {index} has a time of receipt")),
    }
    let at = match items_due {
        ItemsDue::Received => received,
        ItemsDue::Scheduled => state.received_ns + due.due_ns,
    };
    let service_late = sent.checked_sub(at);
    let service_late = service_late
        .ok_or_else(|| format!("item {index} was sent {} ns before it was due", at - sent))?;
    Ok(ItemTimes {
        lateness: state.read_at - at,
        service_late,
        delivery: state.read_at - sent,
    })
}

#[cfg(test)]
mod tests {
    use wirelab_contract::stream::FeedRequest;
    use wirelab_contract::streams::sample;

    use super::*;

    const RECEIVED: u64 = 50_000;
    const READ_AT: u64 = 100_000_000;

    fn rule(format: ItemFormat) -> ItemRule {
        let seeds = (0..2).map(|seed| FeedRequest { seed, ..sample(12) });
        let schedules = seeds.map(|request| Schedule::of(&request).unwrap());
        ItemRule::new(format, ItemsDue::Scheduled, schedules.collect())
    }

    /// The items of a right service, each sent 7 ns after it was due.
    fn items(rule: &ItemRule, row: usize) -> Vec<Item> {
        let texts = &rule.schedules[row];
        let items = texts.clone().map(|due| Item {
            index: due.index,
            due_ns: due.due_ns as i64,
            sent_ns: (RECEIVED + due.due_ns + 7) as i64,
            received_ns: if due.index == 0 { RECEIVED as i64 } else { 0 },
            text: texts.text(due.index),
        });
        items.collect()
    }

    fn take(rule: &ItemRule, state: &mut ItemState, item: &Item) -> Result<(), Rejection> {
        let message = match rule.format {
            ItemFormat::Json => serde_json::to_vec(item).unwrap(),
            ItemFormat::Protobuf => item.encode_to_vec(),
            ItemFormat::Message(format) => format.write(item),
        };
        rule.take(state, &message)
    }

    /// The reason for which these items are refused.
    fn refusal(rule: &ItemRule, items: &[Item]) -> Option<String> {
        let mut state = rule.begin(0);
        state.read_at = READ_AT;
        let taken = items
            .iter()
            .try_for_each(|item| take(rule, &mut state, item));
        let verdict = taken.and_then(|()| check_end(Some(&state)));
        verdict.err().map(|rejection| rejection.reason)
    }

    #[test]
    fn lateness_is_that_of_the_service_and_of_the_delivery_together() {
        for format in [ItemFormat::Json, ItemFormat::Protobuf] {
            let rule = rule(format);
            let mut state = rule.begin(1);
            for item in items(&rule, 1) {
                state.read_at = item.sent_ns as u64 + 30;
                take(&rule, &mut state, &item).unwrap();
            }
            let expected = ItemTimes {
                lateness: 37,
                service_late: 7,
                delivery: 30,
            };
            assert_eq!(state.times, [expected; 10]);
            assert!(check_end(Some(&state)).is_ok());
        }
    }

    type Mistake = fn(&mut Vec<Item>);

    #[test]
    fn each_mistake_has_its_reason() {
        let mistakes: [(&str, Mistake); 11] = [
            ("1 of 10 items did not come", |items| drop(items.pop())),
            ("an item after all 10", |items| items.push(Item::default())),
            ("item 4 instead of item 3", |items| items.swap(3, 4)),
            ("item 3 instead of item 4", |items| {
                items[4] = items[3].clone()
            }),
            ("13 bytes instead of 12", |items| items[2].text.push('x')),
            ("the text of another", |items| {
                items[2].text = items[1].text.clone()
            }),
            ("is due at 2000001 ns instead of 2000000", |items| {
                items[2].due_ns += 1;
            }),
            ("sent 1 ns before it was due", |items| items[5].sent_ns -= 8),
            ("does not say when", |items| items[0].received_ns = 0),
            ("item 3 has a time of receipt", |items| {
                items[3].received_ns = 1;
            }),
            ("another clock", |items| items[3].sent_ns = 100_000_001),
        ];
        let rule = rule(ItemFormat::Json);
        assert_eq!(refusal(&rule, &items(&rule, 0)), None);
        for (reason, mistake) in mistakes {
            let mut items = items(&rule, 0);
            mistake(&mut items);
            let found = refusal(&rule, &items).expect(reason);
            assert!(found.contains(reason), "{found} instead of {reason}");
        }
    }

    #[test]
    fn an_item_of_another_stream_is_refused() {
        let rule = rule(ItemFormat::Protobuf);
        let (mut mixed, other) = (items(&rule, 0), items(&rule, 1));
        mixed[6] = other[6].clone();
        let found = refusal(&rule, &mixed).unwrap();
        assert!(found.contains("another stream"), "{found}");
    }

    #[test]
    fn an_item_of_a_chat_is_late_from_its_own_receipt() {
        let request = FeedRequest {
            gap_us: 0,
            ..sample(12)
        };
        let schedule = Schedule::of(&request).unwrap();
        let rule = ItemRule::new(ItemFormat::Json, ItemsDue::Received, vec![schedule.clone()]);
        let mut state = rule.begin(0);
        for index in 0..10 {
            let received_ns = 1_000 * i64::from(index) + 1;
            state.read_at = received_ns as u64 + 60;
            let item = Item {
                index,
                due_ns: 0,
                sent_ns: received_ns + 20,
                received_ns,
                text: schedule.text(index),
            };
            take(&rule, &mut state, &item).unwrap();
        }
        let expected = ItemTimes {
            lateness: 60,
            service_late: 20,
            delivery: 40,
        };
        assert_eq!(state.times, [expected; 10]);
        let silent = Item {
            text: schedule.text(0),
            ..Item::default()
        };
        assert!(take(&rule, &mut rule.begin(0), &silent).is_err());
    }

    #[test]
    fn messages_that_are_not_items_are_refused() {
        for (format, message) in [
            (ItemFormat::Json, b"{\"index\":".as_slice()),
            (ItemFormat::Json, b"{\"index\":\"0\"}"),
            (ItemFormat::Protobuf, b"\xff"),
        ] {
            let rule = rule(format);
            assert!(rule.take(&mut rule.begin(0), message).is_err());
        }
    }

    #[test]
    fn the_next_item_of_a_feed_that_failed_is_overdue() {
        let rule = rule(ItemFormat::Json);
        let mut state = rule.begin(0);
        assert_eq!(state.overdue_ns(READ_AT), None);
        state.read_at = READ_AT;
        take(&rule, &mut state, &items(&rule, 0)[0]).unwrap();
        // Item 1 is due 1 ms after the receipt.
        assert_eq!(state.overdue_ns(RECEIVED + 1_000_000 + 9), Some(9));
        assert_eq!(state.overdue_ns(RECEIVED + 999_999), None);
    }
}
