//! Documents as tokens (codec token-xml), in both directions of one connection.

use wirelab_contract::Call as Typed;
use wirelab_wire::codec::{Codec, Form, append_request_tokens, request_document};
use wirelab_wire::token_xml::{Decoder, Document, Encoder};

use crate::plan::TokenSource;

/// The caches of one connection.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    pub(crate) encoder: Encoder,
    pub(crate) decoder: Decoder,
    /// A reply was no document: the caches are not the peer's any more.
    pub(crate) out_of_step: bool,
}

/// What documents of requests are made from, call by call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentSource(pub(crate) TokenSource);

/// A request that is the same every time, as far as it can be made beforehand.
#[derive(Debug, Clone)]
pub(crate) enum PreparedDocument {
    Document(Box<Document>),
    /// To be parsed for each call, as the study's sender had to.
    Text(Vec<u8>),
}

impl DocumentSource {
    /// As much as can be made beforehand.
    pub(crate) fn prepare(self, call: &Typed) -> PreparedDocument {
        match self.0 {
            TokenSource::Message => PreparedDocument::Document(Box::new(direct(call))),
            TokenSource::Text => PreparedDocument::Text(text(call)),
        }
    }

    /// The tokens of a call's request.
    pub(crate) fn write(self, call: &Typed, tokens: &mut Tokens, out: &mut Vec<u8>) {
        let encoder = &mut tokens.encoder;
        match self.0 {
            TokenSource::Message => {
                append_request_tokens(call, encoder, out).expect("the workload was checked");
            }
            TokenSource::Text => encoder.encode(&parse(&text(call)), out),
        }
    }
}

impl PreparedDocument {
    /// The tokens of the request.
    pub(crate) fn write(&self, tokens: &mut Tokens, out: &mut Vec<u8>) {
        match self {
            PreparedDocument::Document(document) => tokens.encoder.encode(document, out),
            PreparedDocument::Text(text) => tokens.encoder.encode(&parse(text), out),
        }
    }
}

fn direct(call: &Typed) -> Document {
    request_document(call).expect("the workload was checked")
}

/// The envelope's text: what raw carries without tokens.
fn text(call: &Typed) -> Vec<u8> {
    let mut messages = Form::from(Codec::SoapLiteral)
        .encode(call)
        .expect("the workload was checked");
    messages.swap_remove(0)
}

fn parse(text: &[u8]) -> Document {
    Document::parse(text).expect("our own envelopes are well-formed")
}

#[cfg(test)]
mod tests {
    use wirelab_contract::workload::book;

    use super::*;

    #[test]
    fn both_ways_lead_to_the_same_tokens_and_the_second_call_is_shorter() {
        let mut lengths = Vec::new();
        let mut all = Vec::new();
        for source in [TokenSource::Message, TokenSource::Text] {
            let source = DocumentSource(source);
            let (mut tokens, mut out) = (Tokens::default(), Vec::new());
            for n in 0..2 {
                let before = out.len();
                source.write(&Typed::Book(book(1, n)), &mut tokens, &mut out);
                lengths.push(out.len() - before);
            }
            let prepared = source.prepare(&Typed::Book(book(1, 2)));
            prepared.write(&mut tokens, &mut out);
            all.push(out);
        }
        assert!(lengths[1] * 2 < lengths[0], "{lengths:?}");
        assert_eq!(lengths[..2], lengths[2..]);
        assert_eq!(all[0], all[1]);
    }
}
