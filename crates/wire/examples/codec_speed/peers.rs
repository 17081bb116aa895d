//! The best-known Rust library of each format, used as documented.
//!
//! Each must produce the same message as ours before it is measured: its document is read
//! by us, and ours by it.

use std::fmt::Debug;
use std::hint::black_box;
use std::mem::take;

use cdr::{Infinite, LittleEndian};
use quick_xml::se::Serializer;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wirelab_contract::Call;
use wirelab_wire::codec::{Codec, MessageFormat};

use crate::plain::{CreditControlElement, CreditControlRequest, SubmitElement, SubmitRequest};
use crate::rounds::RoundTrip;

/// A library that writes and reads one message.
struct Peer<P> {
    write: fn(&P, &mut Vec<u8>),
    read: fn(&[u8]) -> P,
}

/// The peer of a codec and its round trip; none where the format has no library.
///
/// # Panics
/// When the peer's message differs from ours.
pub fn of(codec: Codec, call: &Call) -> Option<(&'static str, RoundTrip)> {
    let ours = MessageFormat::from(codec)
        .encode(call)
        .expect("a form for the operation")
        .remove(0);
    match call {
        Call::Submit(request) => {
            let plain = SubmitRequest::from(request);
            race(codec, plain.clone(), SubmitElement::from(plain), &ours)
        }
        Call::CreditControl(request) => {
            let plain = CreditControlRequest::from(request);
            race(
                codec,
                plain.clone(),
                CreditControlElement::from(plain),
                &ours,
            )
        }
        other => panic!("{} has no plain structure here", other.operation()),
    }
}

fn race<P, E>(codec: Codec, plain: P, element: E, ours: &[u8]) -> Option<(&'static str, RoundTrip)>
where
    P: prost::Message + Default + Serialize + DeserializeOwned + PartialEq + Debug + 'static,
    E: Serialize + DeserializeOwned + PartialEq + Debug + 'static,
{
    match codec {
        Codec::Json => Some(("serde_json", json().trip(plain, ours, ours.len()))),
        Codec::Protobuf => Some(("prost", protobuf().trip(plain, ours, ours.len()))),
        Codec::Cdr => Some(("cdr", cdr().trip(plain, ours, ours.len()))),
        Codec::Xml => {
            let without = ours.len() - DECLARATION.len();
            Some(("quick-xml", xml().trip(element, ours, without)))
        }
        _ => None,
    }
}

/// What our XML begins with and quick-xml's serde does not write.
const DECLARATION: &str = r#"<?xml version="1.0" encoding="UTF-8"?>"#;

impl<P: PartialEq + Debug + 'static> Peer<P> {
    /// A round trip of `message`, whose document by us is `ours`, and whose
    /// document by the peer must have that many bytes.
    fn trip(self, message: P, ours: &[u8], bytes: usize) -> RoundTrip {
        let Peer { write, read } = self;
        // Both directions, or the comparison would be between different messages.
        assert_eq!(read(ours), message, "the peer reads our document otherwise");
        let mut out = Vec::new();
        write(&message, &mut out);
        assert!(
            out.len() == bytes && ours.ends_with(&out),
            "the peer writes {} bytes that are not ours",
            out.len()
        );
        Box::new(move || {
            out.clear();
            write(black_box(&message), &mut out);
            black_box(read(black_box(&out)));
            out.len()
        })
    }
}

fn json<P: Serialize + DeserializeOwned>() -> Peer<P> {
    Peer {
        write: |message, out| serde_json::to_writer(out, message).expect("memory grows"),
        read: |bytes| serde_json::from_slice(bytes).expect("JSON of that message"),
    }
}

fn protobuf<P: prost::Message + Default>() -> Peer<P> {
    Peer {
        write: |message, out| message.encode(out).expect("memory grows"),
        read: |bytes| P::decode(bytes).expect("protobuf of that message"),
    }
}

fn cdr<P: Serialize + DeserializeOwned>() -> Peer<P> {
    Peer {
        write: |message, out| {
            cdr::ser::serialize_data_into::<_, _, _, LittleEndian>(out, message, Infinite)
                .expect("memory grows");
        },
        read: |bytes| {
            cdr::de::deserialize_data::<P, LittleEndian>(bytes).expect("CDR of that message")
        },
    }
}

fn xml<P: Serialize + DeserializeOwned>() -> Peer<P> {
    Peer {
        write: |message, out| {
            // The buffer is empty: nothing is checked or copied on its way.
            let mut text = String::from_utf8(take(out)).expect("an empty buffer");
            let mut writer = Serializer::new(&mut text);
            writer.expand_empty_elements(true);
            message.serialize(writer).expect("a form in XML");
            *out = text.into_bytes();
        },
        read: |bytes| {
            let text = std::str::from_utf8(bytes).expect("XML in UTF-8");
            quick_xml::de::from_str(text).expect("XML of that message")
        },
    }
}
