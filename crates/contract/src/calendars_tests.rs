//! Calendar against the text of contracts/README.md.

use proptest::prelude::*;

use super::*;
use crate::{Operation, State, Store};

fn request(owner: &str, day: i32, slot: i32) -> BookRequest {
    BookRequest {
        owner: owner.to_owned(),
        day,
        slot,
        title: "t".to_owned(),
        ..BookRequest::default()
    }
}

fn entries(calendars: &Calendars, owner: &str, day: i32) -> Vec<Entry> {
    let owner = owner.to_owned();
    let reply = calendars.entries(&EntriesRequest { owner, day });
    reply.unwrap().entries
}

#[test]
fn deploy_returns_the_beginning_of_the_digest() {
    let deployed = |document: &str| {
        let document = document.to_owned();
        deploy(&DeployRequest { document }).map(|reply| reply.status)
    };
    // SHA-256 of "abc": FIPS 180-4, example computations.
    let abc = "deployed ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb";
    assert_eq!(deployed("abc").as_deref(), Ok(abc));
    assert_eq!(deployed(""), Err(ApplicationError::EmptyDocument));
    // Two bytes each: the limit counts bytes, not characters.
    let most = "é".repeat(DOCUMENT_BYTES_MAX / 2);
    assert_eq!(deployed(&most).unwrap().len(), 58);
    let more = most + ".";
    assert_eq!(deployed(&more), Err(ApplicationError::DocumentTooLong));
}

#[test]
fn entries_come_by_slot_and_a_later_booking_replaces() {
    let calendars = Calendars::new();
    for (slot, title) in [(47, "last"), (0, "first"), (9, "nine"), (9, "again")] {
        let booked = calendars.book(&BookRequest {
            title: title.to_owned(),
            open: slot == 0,
            weight: f64::from(slot) / 4.0,
            note: "mine".to_owned(),
            ..request("ü", 364, slot)
        });
        let reply = booked.unwrap();
        assert_eq!(reply.number, 363 * 48 + slot);
        assert_eq!((reply.owner.as_str(), reply.title.as_str()), ("ü", title));
    }
    // Neighbours in the order of keys that must not show: the slot before the day, and
    // another owner.
    calendars.book(&request("ü", 363, 47)).unwrap();
    calendars.book(&request("v", 364, 1)).unwrap();
    let entry = |slot: i32, title: &str| Entry {
        slot,
        title: title.to_owned(),
        open: slot == 0,
        weight: f64::from(slot) / 4.0,
    };
    let day = [entry(0, "first"), entry(9, "again"), entry(47, "last")];
    assert_eq!(entries(&calendars, "ü", 364), day);
    assert_eq!(entries(&calendars, "ü", 363).len(), 1);
    assert_eq!(entries(&calendars, "ü", 1), []);
    assert_eq!(entries(&calendars, "nobody", 364), []);
}

#[test]
fn of_several_errors_the_first_is_reported() {
    let calendars = Calendars::new();
    let long = "é".repeat(TEXT_BYTES_MAX / 2) + ".";
    let mut wrong = BookRequest {
        weight: f64::NAN,
        note: long.clone(),
        ..BookRequest::default()
    };
    wrong.slot = 48;
    let mut first_error = |repair: &dyn Fn(&mut BookRequest)| {
        let error = calendars.book(&wrong).unwrap_err();
        repair(&mut wrong);
        error
    };
    use ApplicationError as E;
    assert_eq!(first_error(&|r| r.owner = long.clone()), E::EmptyOwner);
    assert_eq!(first_error(&|r| r.day = 365), E::Day);
    assert_eq!(first_error(&|r| r.day = 1), E::Day);
    assert_eq!(first_error(&|r| r.slot = -1), E::Slot);
    assert_eq!(first_error(&|r| r.slot = 0), E::Slot);
    assert_eq!(first_error(&|r| r.title = long.clone()), E::EmptyTitle);
    assert_eq!(first_error(&|r| r.owner.truncate(1024)), E::TextTooLong);
    assert_eq!(first_error(&|r| r.title.truncate(1024)), E::TextTooLong);
    assert_eq!(first_error(&|r| r.note.truncate(1024)), E::TextTooLong);
    assert_eq!(first_error(&|r| r.weight = f64::NEG_INFINITY), E::Weight);
    assert_eq!(first_error(&|r| r.weight = f64::MIN_POSITIVE), E::Weight);
    assert!(calendars.book(&wrong).is_ok());
}

#[test]
fn entries_refuse_what_the_contract_refuses() {
    let calendars = Calendars::new();
    let refused = |owner: &str, day| {
        let owner = owner.to_owned();
        calendars.entries(&EntriesRequest { owner, day }).err()
    };
    assert_eq!(refused("", 0), Some(ApplicationError::EmptyOwner));
    for day in [0, -1, 365, i32::MIN, i32::MAX] {
        assert_eq!(refused("a", day), Some(ApplicationError::Day));
    }
    assert_eq!(refused("a", 364), None);
}

#[test]
fn ten_thousand_owners_are_kept_and_no_more() {
    let calendars = Calendars::new();
    for owner in 0..OWNERS_MAX {
        calendars.book(&request(&owner.to_string(), 1, 0)).unwrap();
    }
    let one_more = calendars.book(&request("one more", 1, 0));
    assert_eq!(one_more, Err(ApplicationError::TooManyOwners));
    assert!(calendars.book(&request("0", 2, 0)).is_ok());
    assert_eq!(entries(&calendars, "one more", 1), []);
    // The weight is checked before the number of owners.
    let mut weightless = request("one more", 1, 0);
    weightless.weight = f64::INFINITY;
    let first = calendars.book(&weightless);
    assert_eq!(first, Err(ApplicationError::Weight));
}

#[test]
fn bookings_of_eight_threads_are_all_kept() {
    let state = State::new(&Store::default());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let calendars = &state.calendars;
            scope.spawn(move || {
                for slot in 0..SLOTS {
                    calendars
                        .book(&request("shared", thread + 1, slot))
                        .unwrap();
                    let own = format!("{thread}-{slot}");
                    calendars.book(&request(&own, 1, 0)).unwrap();
                }
            });
        }
    });
    for day in 1..=8 {
        assert_eq!(entries(&state.calendars, "shared", day).len(), 48);
    }
    let owners = state.calendars.owners.load(Ordering::Relaxed);
    assert_eq!(owners, 1 + 8 * 48);
}

#[test]
fn only_deploy_and_book_need_no_memory_of_earlier_calls() {
    let pure = Operation::all_of(crate::Contract::Calendar).filter(|o| o.pure());
    assert!(pure.eq([Operation::Deploy, Operation::Book]));
}

proptest! {
    #[test]
    fn a_calendar_is_a_map_from_slots_to_entries(
        bookings in prop::collection::vec((0_usize..3, 1_i32..4, 0_i32..48, "[a-zé]{1,4}"), 0..80)
    ) {
        let calendars = Calendars::new();
        let mut map = BTreeMap::new();
        for (owner, day, slot, title) in bookings {
            let owner = ["a", "b", "ü"][owner];
            let request = BookRequest { title: title.clone(), ..request(owner, day, slot) };
            calendars.book(&request).unwrap();
            map.insert((owner, day, slot), title);
        }
        for owner in ["a", "b", "ü"] {
            for day in 1..4 {
                let found = entries(&calendars, owner, day);
                let found: Vec<_> = found.into_iter().map(|e| (e.slot, e.title)).collect();
                let day = map.range((owner, day, 0)..=(owner, day, 47));
                let expected: Vec<_> = day.map(|(key, title)| (key.2, title.clone())).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
