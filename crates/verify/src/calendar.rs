//! Calls of `calendar`.

use wirelab_contract::calendar::{BookRequest, DeployRequest, EntriesRequest};
use wirelab_contract::texts::{self, SplitMix64};
use wirelab_contract::{
    Call, DAYS, DOCUMENT_BYTES_MAX, OWNERS_MAX, SLOTS, TEXT_BYTES_MAX, workload,
};

use crate::finding::only_deep;
use crate::transfer::TEXTS;
use crate::walk::Walk;

/// Bookings of the generated sequence.
const GENERATED: u64 = 300;

pub(crate) fn operations(walk: &mut Walk, seed: u64) {
    let _ = walk.step("the study's document", &Call::Deploy(workload::deploy()));
    // The first and second booking, the last of a day, the first of the next, the last of
    // 364 days of 48 slots, and the one that begins again.
    for n in [0, 1, 47, 48, 17_471, 17_472] {
        let _ = walk.step("the study's bookings", &Call::Book(workload::book(3, n)));
    }
    for text in TEXTS {
        let document = text.to_owned();
        let _ = walk.step("a document", &Call::Deploy(DeployRequest { document }));
        let request = BookRequest {
            owner: text.to_owned(),
            title: text.to_owned(),
            note: text.to_owned(),
            ..book("", 7, 3)
        };
        let _ = walk.step("texts that codecs get wrong", &Call::Book(request));
        let _ = walk.step("an owner of such a text", &entries(text, 7));
    }
    weights(walk);
    generate(walk, seed);
    let _ = walk.step("the entries of nobody", &entries("nobody", 1));
}

fn weights(walk: &mut Walk) {
    // Decimal fractions that binary has not, both ends of the exponent with the smallest
    // subnormal, and magnitudes at which libraries change to exponents. Readers must get
    // the same bits back.
    let weights = [
        0.0,
        0.1,
        1.0,
        -2.5,
        1e300,
        5e-324,
        f64::MAX,
        1.0 / 3.0,
        1e15,
        123_456_789.125,
    ];
    for (slot, weight) in weights.into_iter().enumerate() {
        let request = BookRequest {
            weight,
            open: slot % 2 == 0,
            ..book("weigher", 9, slot as i32)
        };
        let _ = walk.step("a weight", &Call::Book(request));
    }
    let _ = walk.step("the weights", &entries("weigher", 9));
}

/// Owners who book and book again, with a look at their days.
fn generate(walk: &mut Walk, seed: u64) {
    // A constant per contract: otherwise one seed would make the same draws in all of them.
    let mut random = SplitMix64::new(seed ^ 0xCA1E);
    let mut below = |n: u64| random.next_u64() % n;
    for k in 0..GENERATED {
        // Few owners and days, so that slots are booked over and over: Book replaces what
        // was there.
        let owner = format!("owner {}", below(3));
        let day = 1 + below(2) as i32;
        if below(6) == 0 {
            let _ = walk.step("a day's entries", &entries(&owner, day));
            continue;
        }
        let request = BookRequest {
            title: format!("entry {k}"),
            open: below(2) == 0,
            // Eighths are exact in binary. Formats of floats are tried above; here only the
            // sequence counts.
            weight: below(1_000) as f64 / 8.0,
            ..book(&owner, day, below(SLOTS as u64) as i32)
        };
        let _ = walk.step("a booking", &Call::Book(request));
    }
}

pub(crate) fn errors(walk: &mut Walk) {
    let _ = walk.step("no document", &Call::Deploy(DeployRequest::default()));
    // JSON has no word for the first weight, and all else must be tried there too.
    several_reasons(walk, f64::NAN);
    several_reasons(walk, 1.0);
    for (day, slot) in [
        (0, 0),
        (-1, 0),
        (365, 0),
        (i32::MAX, 0),
        (1, -1),
        (1, 48),
        (1, i32::MIN),
    ] {
        let _ = walk.step(
            "a day or slot that is not there",
            &Call::Book(book("o", day, slot)),
        );
    }
    for weight in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let request = BookRequest {
            weight,
            ..book("o", 1, 1)
        };
        let _ = walk.step("a weight that is not finite", &Call::Book(request));
    }
    for (owner, day) in [("", 1), ("", 0), ("o", 0), ("o", 365), ("o", i32::MIN)] {
        let _ = walk.step("entries that cannot be", &entries(owner, day));
    }
    let _ = walk.step("nothing was booked by refused calls", &entries("o", 1));
}

/// Every reason at once; then the first is put right, and so on.
fn several_reasons(walk: &mut Walk, weight: f64) {
    let mut all = BookRequest {
        owner: String::new(),
        day: 0,
        slot: -1,
        title: String::new(),
        open: false,
        weight,
        note: "n".repeat(TEXT_BYTES_MAX + 1),
    };
    // In the order of contracts/README.md, so that each step must report the next reason.
    for repair in 0..7 {
        match repair {
            1 => all.owner = "somebody".into(),
            2 => all.day = 1,
            3 => all.slot = 0,
            4 => all.title = "title".into(),
            5 => all.note = "note".into(),
            6 => all.weight = 1.0,
            _ => {}
        }
        let _ = walk.step("several reasons at once", &Call::Book(all.clone()));
    }
}

pub(crate) fn limits(walk: &mut Walk, deep: bool) -> Vec<String> {
    for (day, slot) in [(1, 0), (1, 47), (DAYS, 0), (DAYS, 47)] {
        let _ = walk.step(
            "the first and last slots",
            &Call::Book(book("edge", day, slot)),
        );
    }
    // The limit counts bytes of UTF-8, so half as many of a letter of two bytes.
    let longest = ["x".repeat(TEXT_BYTES_MAX), "ü".repeat(TEXT_BYTES_MAX / 2)];
    for text in &longest {
        for request in long_texts(text) {
            let _ = walk.step("the longest texts", &Call::Book(request));
        }
    }
    for text in [
        "x".repeat(TEXT_BYTES_MAX + 1),
        "ü".repeat(TEXT_BYTES_MAX / 2 + 1),
    ] {
        for request in long_texts(&text) {
            let _ = walk.step("texts of one character more", &Call::Book(request));
        }
    }
    let _ = walk.step("an owner of the longest name", &entries(&longest[1], 2));
    for bytes in [DOCUMENT_BYTES_MAX, DOCUMENT_BYTES_MAX + 1] {
        let document = texts::text(bytes);
        let _ = walk.step(
            "the longest document, and one more",
            &Call::Deploy(DeployRequest { document }),
        );
    }
    full_day(walk);
    if !deep {
        return only_deep("10,000 owners");
    }
    // Owners of the sections before count too, so the limit comes some calls earlier, for
    // the model as well.
    for k in 0..=OWNERS_MAX {
        let _ = walk.step(
            "as many owners as may be, and more",
            &Call::Book(book(&format!("many {k}"), 1, 1)),
        );
    }
    Vec::new()
}

fn full_day(walk: &mut Walk) {
    // Backwards, so that the order of the reply cannot be the order of booking.
    for slot in (0..SLOTS).rev() {
        let _ = walk.step("a full day", &Call::Book(book("busy", 100, slot)));
    }
    let _ = walk.step("a full day", &entries("busy", 100));
}

/// The text as owner, as title and as note.
fn long_texts(text: &str) -> [BookRequest; 3] {
    let mut requests = [book("long", 2, 1), book("long", 2, 2), book("long", 2, 3)];
    requests[0].owner = text.to_owned();
    requests[1].title = text.to_owned();
    requests[2].note = text.to_owned();
    requests
}

fn book(owner: &str, day: i32, slot: i32) -> BookRequest {
    BookRequest {
        owner: owner.to_owned(),
        day,
        slot,
        title: format!("day {day}, slot {slot}"),
        open: true,
        weight: 0.5,
        note: "a note".to_owned(),
    }
}

fn entries(owner: &str, day: i32) -> Call {
    Call::Entries(EntriesRequest {
        owner: owner.to_owned(),
        day,
    })
}
