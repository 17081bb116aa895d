//! Requests of `calendar` in the sizes of Kangasharju, Tarkoma and Raatikainen
//! (2003), table 1, as SOAP 1.1 document/literal envelopes of our writer:
//! Deploy 655 B and its reply 296 B, Book 652 B and its reply 464 B.

use crate::calendar::{BookRequest, DeployRequest};
use crate::calendars::{DAYS, SLOTS};

/// Bytes that a document takes in XML, character references included, so that
/// the envelope has 655 B: the rest of it has 246 B.
const DOCUMENT_XML_BYTES: usize = 655 - 246;

/// Bytes of `number`, `owner` and `title` together, so that a reply's envelope
/// has 464 B: the rest of it has 264 B.
const BOOK_REPLY_TEXT_BYTES: usize = 464 - 264;

/// Bytes of the fields of a Book request whose length differs, so that its
/// envelope has 652 B: the rest of it, `true` and a weight of four characters
/// included, has 326 B.
const BOOK_TEXT_BYTES: usize = 652 - 326;

/// Owners that differ; a service keeps at most 10,000.
const OWNERS: u64 = 9_000;

/// Bookings after which one owner's slots begin again.
const BOOKINGS: u64 = DAYS as u64 * SLOTS as u64;

/// Weights that are written with four characters.
// Exact in binary and of one length, so that all bookings have one size.
const WEIGHTS: [f64; 8] = [0.25, 1.25, 2.25, 3.25, 0.75, 1.75, 2.75, 3.75];

const TITLE: &str = "Meeting of the working group on wireless access, second part: what was \
    measured since autumn, what was not, and who writes the report that the project owes its \
    sponsors at the end of the quarter";

const NOTE: &str = "Bring the printed tables. The room is booked for half an hour only; the \
    door code changes at noon, so come early or ring the bell of the office next to it.";

/// The study's document: an application's description, in XML.
///
/// # Panics
/// Never: the text that fills the document up is long enough.
#[must_use]
pub fn deploy() -> DeployRequest {
    let head = "<application name=\"calendar\"><class>CalendarService</class><scope>session</scope>\
        <method>book</method><method>entries</method><about>";
    let tail = "</about></application>";
    // Markup in the document is escaped within the envelope, so its size in XML counts.
    let filler = DOCUMENT_XML_BYTES - xml_bytes(head) - xml_bytes(tail);
    DeployRequest {
        document: format!("{head}{}{tail}", cut(TITLE, filler)),
    }
}

/// Booking `n`, counted from 0, of a user: the slots of a year in their order,
/// then again from the first. Successive requests differ in a few characters
/// and are of one size, replies too.
#[must_use]
pub fn book(user: u64, n: u64) -> BookRequest {
    let slot = (n % BOOKINGS) as i32;
    let (day, slot_of_day) = (slot / SLOTS + 1, slot % SLOTS);
    let owner = format!("user{:04}@calendar.example.org", user % OWNERS);
    // The title takes up what number and owner leave, and the note what is left after that:
    // both sizes hold for every day and slot.
    let title = BOOK_REPLY_TEXT_BYTES - digits(slot) - owner.len();
    let note = BOOK_TEXT_BYTES - owner.len() - title - digits(day) - digits(slot_of_day);
    BookRequest {
        owner,
        day,
        slot: slot_of_day,
        title: cut(TITLE, title),
        open: true,
        weight: WEIGHTS[(n % WEIGHTS.len() as u64) as usize],
        note: cut(NOTE, note),
    }
}

/// The first `bytes` bytes of an ASCII text, which must have as many.
fn cut(text: &str, bytes: usize) -> String {
    text[..bytes].to_owned()
}

/// Bytes of a text in XML, `<` and `>` as references. It must hold no `&`.
fn xml_bytes(text: &str) -> usize {
    text.len() + 3 * text.matches(['<', '>']).count()
}

/// Decimal digits of a number that is not negative.
fn digits(number: i32) -> usize {
    // None of 0, which has one digit.
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

#[cfg(test)]
#[path = "calendar_tests.rs"]
mod tests;
