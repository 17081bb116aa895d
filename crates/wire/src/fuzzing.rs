//! Fuzz targets: one function per parser, which must neither panic nor loop
//! forever on any bytes, and must keep the property in its comment.
//!
//! Not for users of this crate; `tests/fuzz` and `/fuzz` call it.

mod codecs;
mod sessions;
mod streams;

use wirelab_contract::calendar::BookRequest;
use wirelab_contract::transfer::{SubmitReply, SubmitRequest, UploadRequest};
use wirelab_contract::{Message, Operation};

use crate::soap::{self, EnvelopeFormat, Response, Style, Version};
use crate::token_xml::{self, Decoder, Encoder, TokenCache};
use crate::xml;

pub use codecs::{
    fuzz_avro, fuzz_cdr, fuzz_connect, fuzz_grpc, fuzz_gzip, fuzz_hpack, fuzz_ior, fuzz_json,
    fuzz_protobuf, fuzz_zstd,
};
pub use sessions::{
    fuzz_giop_client, fuzz_giop_server, fuzz_http1, fuzz_http2, fuzz_raw_client, fuzz_raw_server,
    fuzz_websocket,
};
pub use streams::{fuzz_chat, fuzz_ndjson, fuzz_sse, fuzz_unpacker};

/// A document that is read as a message is read alike when written again.
pub fn fuzz_xml(data: &[u8]) {
    fn check_round_trip<M: Message>(data: &[u8]) {
        if let Ok(message) = xml::from_slice::<M>(data) {
            // Messages are compared, not documents: white space, prefixes and the order
            // of attributes may differ.
            assert_eq!(xml::from_slice(&xml::to_vec(&message)), Ok(message));
        }
    }
    check_round_trip::<SubmitRequest>(data);
    check_round_trip::<UploadRequest>(data);
    // NaN differs from itself.
    drop(xml::from_slice::<BookRequest>(data));
}

/// An envelope in any style and version, with whatever its header holds: a reply
/// that is read is read alike when written again.
pub fn fuzz_soap(data: &[u8]) {
    const SUBMIT: Operation = Operation::Submit;
    let styles = [Style::Literal, Style::Rpc, Style::Encoded];
    let formats =
        styles.map(|style| Version::ALL.map(|version| EnvelopeFormat::new(version, style)));
    for format in formats.into_iter().flatten().flatten() {
        drop(soap::read_request::<SubmitRequest>(format, SUBMIT, data));
        if let Ok(Response::Message(reply)) = soap::read_reply::<SubmitReply>(format, SUBMIT, data)
        {
            let mut out = Vec::new();
            soap::write_reply(format, SUBMIT, &reply, &mut out);
            let again = soap::read_reply(format, SUBMIT, &out);
            assert_eq!(again, Ok(Response::Message(reply)));
        }
    }
}

/// Documents of tokens, the rest of the bytes of each being the next one: what
/// is taken is the same document after another encoding, whatever is cached.
pub fn fuzz_token_xml(data: &[u8]) {
    // Both caches: names+texts keeps and evicts more.
    for &cache in TokenCache::ALL {
        fuzz_tokens(cache, data);
    }
}

fn fuzz_tokens(cache: TokenCache, data: &[u8]) {
    let mut decoder = Decoder::new(cache);
    let mut ends = (Encoder::new(cache), Decoder::new(cache));
    for tokens in data.split(|byte| *byte == 0x0F) {
        // After an error the connection is closed, so that no later document counts.
        let Ok(document) = decoder.decode(tokens) else {
            return;
        };
        let mut out = Vec::new();
        ends.0.encode(&document, &mut out);
        assert_eq!(ends.1.decode(&out).as_ref(), Ok(&document));
        drop(document.read_request::<SubmitRequest>(Operation::Submit));
    }
}

/// A text that is taken as a document stands for the same document when
/// written again.
pub fn fuzz_token_xml_text(data: &[u8]) {
    if let Ok(document) = token_xml::parse(data) {
        assert_eq!(
            token_xml::parse(&token_xml::to_xml(&document)),
            Ok(document)
        );
    }
}
