//! Items of streams, compared with what they must be.

use wirelab_contract::stream::Item;
use wirelab_contract::streams::Schedule;

use crate::difference::{Difference, same};

/// An item that a client sends.
pub(crate) fn item(index: i32, text: &str) -> Item {
    Item {
        index,
        text: text.to_owned(),
        ..Item::default()
    }
}

/// Compares the items of a feed with its schedule, and their times with each other. The error holds
/// what was expected and what was found.
pub(crate) fn compare_feed(schedule: &Schedule, found: &[Item]) -> Result<(), Difference> {
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

fn check_times(item: &Item, received_ns: i64, before_ns: i64) -> Result<(), Difference> {
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
pub(crate) fn compare_chat(expected: &[Item], found: &[Item]) -> Result<(), Difference> {
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
    use wirelab_contract::streams::sample;

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
