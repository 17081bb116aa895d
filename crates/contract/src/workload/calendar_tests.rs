//! The sizes of the study, in envelopes that are put together here by hand.

use std::collections::HashSet;

use super::*;
use crate::calendar::{BookReply, DeployReply};
use crate::{Call, Reply};

fn envelope(message: &str, fields: &[(&str, &str)]) -> String {
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><soapenv:Envelope \
         xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\"><soapenv:Body>\
         <{message} xmlns=\"urn:wirelab:calendar:v1\">"
    );
    for (name, value) in fields {
        let value = value.replace('&', "&amp;").replace('<', "&lt;");
        let value = value.replace('>', "&gt;");
        text.push_str(&format!("<{name}>{value}</{name}>"));
    }
    text + &format!("</{message}></soapenv:Body></soapenv:Envelope>")
}

fn book_envelope(request: &BookRequest) -> String {
    let fields = [
        ("owner", request.owner.as_str()),
        ("day", &request.day.to_string()),
        ("slot", &request.slot.to_string()),
        ("title", &request.title),
        ("open", &request.open.to_string()),
        ("weight", &request.weight.to_string()),
        ("note", &request.note),
    ];
    envelope("BookRequest", &fields)
}

fn book_reply_envelope(reply: &BookReply) -> String {
    let fields = [
        ("number", reply.number.to_string().as_str()),
        ("owner", &reply.owner),
        ("title", &reply.title),
    ]
    .map(|(name, value)| (name, value.to_owned()));
    let fields = fields
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    envelope("BookReply", &fields)
}

#[test]
fn a_deployment_takes_655_bytes_and_its_reply_296() {
    let request = deploy();
    let fields = [("document", request.document.as_str())];
    assert_eq!(envelope("DeployRequest", &fields).len(), 655);
    let Ok(Reply::Deploy(DeployReply { status })) = Call::Deploy(request).answer() else {
        panic!("the document is taken");
    };
    let fields = [("status", status.as_str())];
    assert_eq!(envelope("DeployReply", &fields).len(), 296);
}

#[test]
fn every_booking_takes_652_bytes_and_its_reply_464() {
    // The ranges hold every change in the number of digits of day, slot and number.
    for user in [0, 7, 8_999, 9_000, u64::MAX] {
        for n in (0..2_500).chain(17_000..17_500).chain([u64::MAX]) {
            let request = book(user, n);
            assert_eq!(book_envelope(&request).len(), 652, "{request:?}");
            let Ok(Reply::Book(reply)) = Call::Book(request).answer() else {
                panic!("booking {n} of user {user} is taken");
            };
            assert_eq!(book_reply_envelope(&reply).len(), 464, "{reply:?}");
        }
    }
}

#[test]
fn a_year_of_bookings_fills_every_slot_once() {
    let slots: HashSet<_> = (0..BOOKINGS)
        .map(|n| book(3, n))
        .map(|r| (r.day, r.slot))
        .collect();
    assert_eq!(slots.len(), 17_472);
    assert_eq!(
        book(3, 0),
        BookRequest {
            weight: 0.25,
            ..book(3, BOOKINGS)
        }
    );
    assert_ne!(book(3, 0).owner, book(4, 0).owner);
}
