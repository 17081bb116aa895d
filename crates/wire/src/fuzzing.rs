//! What fuzzers feed: one function per parser, which must neither panic nor
//! hang on any bytes, and must hold what its comment says.
//!
//! Not for users of this crate; `tests/fuzz` and `/fuzz` call it.

mod codecs;
mod sessions;

use wirelab_contract::calendar::BookRequest;
use wirelab_contract::transfer::{SubmitReply, SubmitRequest};
use wirelab_contract::{Message, Operation};

use crate::soap::{Answer, Envelope, Form, Style, Version, usual_reply, usual_request};
use crate::token_xml::{Decoder, Document, Encoder, ReadError};
use crate::xml;

pub use codecs::{
    fuzz_cdr, fuzz_grpc, fuzz_gzip, fuzz_hpack, fuzz_ior, fuzz_json, fuzz_protobuf, fuzz_zstd,
};
pub use sessions::{
    fuzz_giop_client, fuzz_giop_server, fuzz_http1, fuzz_http2, fuzz_raw_client, fuzz_raw_server,
};

/// A document that is read as a message is read alike when written again, and by
/// both readers where the one of usual documents takes it.
pub fn fuzz_xml(data: &[u8]) {
    fn again<M: Message>(data: &[u8]) {
        let namespace = M::CONTRACT.namespace();
        if let Some(message) = xml::usual::document::<M>(data, namespace, M::NAME) {
            let slow = xml::of_any_layout(data, namespace, M::NAME);
            assert_eq!(slow, Ok(message));
        }
        if let Ok(message) = xml::from_slice::<M>(data) {
            assert_eq!(xml::from_slice(&xml::to_vec(&message)), Ok(message));
        }
    }
    again::<SubmitRequest>(data);
    again::<wirelab_contract::transfer::UploadRequest>(data);
    // NaN differs from itself, but not from its name.
    let namespace = BookRequest::CONTRACT.namespace();
    if let Some(usual) = xml::usual::document::<BookRequest>(data, namespace, BookRequest::NAME) {
        let slow = xml::of_any_layout::<BookRequest>(data, namespace, BookRequest::NAME);
        assert_eq!(
            format!("{slow:?}"),
            format!("{:?}", Ok::<_, xml::Error>(usual))
        );
    }
    drop(xml::from_slice::<BookRequest>(data));
}

/// An envelope in any style and version, with whatever its header holds; both
/// readers take it alike where the one of usual documents does.
pub fn fuzz_soap(data: &[u8]) {
    const SUBMIT: Operation = Operation::Submit;
    for style in [Style::Literal, Style::Rpc, Style::Encoded] {
        for version in Version::ALL {
            let Ok(form) = Form::new(version, style) else {
                continue;
            };
            let envelope = || Envelope::parse(data).ok();
            if let Some(envelope) = envelope() {
                drop(envelope.admit(form, envelope.token()));
            }
            let usual = usual_request::<SubmitRequest>(form, SUBMIT, SubmitRequest::NAME, data);
            let request = envelope().and_then(|e| e.request_of_any_layout(form, SUBMIT).ok());
            assert!(usual.is_none() || usual == request, "{usual:?} {request:?}");
            let usual = usual_reply::<SubmitReply>(form, SUBMIT, SubmitReply::NAME, data);
            let reply = envelope().and_then(|e| e.reply(form, SUBMIT).ok());
            let same =
                matches!(&reply, Some(Answer::Message(reply)) if usual.as_ref() == Some(reply));
            assert!(usual.is_none() || same, "{usual:?} {reply:?}");
            if let Some(Answer::Message(reply)) = reply {
                let mut out = Vec::new();
                crate::soap::write_reply(form, SUBMIT, &reply, &mut out);
                let again = crate::soap::read_reply(form, SUBMIT, &out);
                assert_eq!(again, Ok(Answer::Message(reply)));
            }
        }
    }
}

/// Documents of tokens, the rest of the bytes of each being the next one: what
/// is taken is the same document after another encoding.
pub fn fuzz_token_xml(data: &[u8]) {
    let (mut decoder, mut direct) = (Decoder::new(), Decoder::new());
    let mut ends = (Encoder::new(), Decoder::new());
    for tokens in data.split(|byte| *byte == 0x0F) {
        let directly = direct.read_request::<SubmitRequest>(tokens, Operation::Submit);
        let Ok(document) = decoder.decode(tokens) else {
            assert!(
                matches!(directly, Err(ReadError::Tokens(_))),
                "{directly:?}"
            );
            return;
        };
        let mut out = Vec::new();
        ends.0.encode(&document, &mut out);
        assert_eq!(ends.1.decode(&out).as_ref(), Ok(&document));
        let envelope = || document.envelope().ok();
        let slow = document
            .read_request::<SubmitRequest>(Operation::Submit)
            .ok();
        let usual = envelope().and_then(|e| e.request(Form::PLAIN, Operation::Submit).ok());
        assert_eq!(usual, slow, "both readers take a document alike");
        assert_eq!(directly.ok(), slow, "and so does the one without it");
        assert!(direct.stands_as(&decoder), "with the same caches behind");
    }
}

/// A text that is taken as a document stands for the same document when
/// written again.
pub fn fuzz_token_xml_text(data: &[u8]) {
    if let Ok(document) = Document::parse(data) {
        assert_eq!(Document::parse(&document.to_xml()), Ok(document));
    }
}
