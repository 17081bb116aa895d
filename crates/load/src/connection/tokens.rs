//! Documents as tokens (codec token-xml), in both directions of one connection.

use wirelab_contract::Call as Typed;
use wirelab_stack::{Codec, TokenSource};
use wirelab_wire::codec::{MessageFormat, append_request_tokens, request_document};
use wirelab_wire::token_xml::{self, Decoder, Document, Encoder, TokenCache};

/// The caches of one connection.
#[derive(Debug)]
pub(crate) struct Tokens {
    pub(crate) encoder: Encoder,
    pub(crate) decoder: Decoder,
    /// The tokens of prepared requests, by the number of their step.
    requests: Vec<Settled>,
    /// The last right replies to them.
    replies: Vec<Settled>,
}

/// Tokens that mean the same, and change nothing, for as long as nothing enters
/// the caches of their direction.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    tokens: Vec<u8>,
    /// What had entered then; none before there are such tokens.
    entered: Option<u64>,
}

/// Tokens that are kept at most, so that many connections take little memory.
const SETTLED_BYTES_MAX: usize = 16 << 10;

impl Settled {
    /// The tokens, if they still are what they were.
    pub(crate) fn find_at(&self, entered: u64) -> Option<&[u8]> {
        (self.entered == Some(entered)).then_some(&self.tokens)
    }

    /// Keeps tokens, if nothing entered with them.
    pub(crate) fn keep(&mut self, tokens: &[u8], before: u64, after: u64) {
        // New cache entries are references from the next document on: the same document then
        // has other tokens.
        if before == after && tokens.len() <= SETTLED_BYTES_MAX {
            self.tokens.clear();
            self.tokens.extend_from_slice(tokens);
            self.entered = Some(after);
        }
    }
}

impl Tokens {
    /// Those of a new connection.
    pub(crate) fn new(cache: TokenCache) -> Self {
        Tokens {
            encoder: Encoder::new(cache),
            decoder: Decoder::new(cache),
            requests: Vec::new(),
            replies: Vec::new(),
        }
    }

    /// The last right reply to the prepared request of a step.
    pub(crate) fn reply(&mut self, step: usize) -> &mut Settled {
        get_settled(&mut self.replies, step)
    }

    /// The tokens of the document that is the only one of its step.
    fn write(&mut self, step: usize, document: &Document, out: &mut Vec<u8>) {
        let before = self.encoder.insertions();
        let request = get_settled(&mut self.requests, step);
        if let Some(tokens) = request.find_at(before) {
            return out.extend_from_slice(tokens);
        }
        let begin = out.len();
        self.encoder.encode(document, out);
        let after = self.encoder.insertions();
        request.keep(&out[begin..], before, after);
    }
}

fn get_settled(steps: &mut Vec<Settled>, step: usize) -> &mut Settled {
    if step >= steps.len() {
        steps.resize_with(step + 1, Settled::default);
    }
    &mut steps[step]
}

/// How documents of requests are made and encoded, call by call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentSource {
    /// What they are made from.
    pub(crate) source: TokenSource,
    /// What their connections cache.
    pub(crate) cache: TokenCache,
}

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
        match self.source {
            TokenSource::Message => PreparedDocument::Document(Box::new(direct(call))),
            TokenSource::Text => PreparedDocument::Text(text(call)),
        }
    }

    /// Encodes a call's request as a document of tokens (codec token-xml).
    pub(crate) fn write(self, call: &Typed, tokens: &mut Tokens, out: &mut Vec<u8>) {
        let encoder = &mut tokens.encoder;
        match self.source {
            TokenSource::Message => {
                append_request_tokens(call, encoder, out).expect("the workload was checked");
            }
            TokenSource::Text => encoder.encode(&parse(&text(call)), out),
        }
    }
}

impl PreparedDocument {
    /// The tokens of the request, which is the only one of its step.
    pub(crate) fn write(&self, step: usize, tokens: &mut Tokens, out: &mut Vec<u8>) {
        match self {
            PreparedDocument::Document(document) => tokens.write(step, document, out),
            PreparedDocument::Text(text) => tokens.encoder.encode(&parse(text), out),
        }
    }
}

fn direct(call: &Typed) -> Document {
    request_document(call).expect("the workload was checked")
}

/// The envelope's text: what raw carries without tokens.
fn text(call: &Typed) -> Vec<u8> {
    let mut messages = MessageFormat::from(Codec::SoapLiteral)
        .encode(call)
        .expect("the workload was checked");
    messages.swap_remove(0)
}

fn parse(text: &[u8]) -> Document {
    token_xml::parse(text).expect("our own envelopes are well-formed")
}

#[cfg(test)]
mod tests {
    use wirelab_contract::Operation;
    use wirelab_contract::workload::{self, book};

    use super::*;

    #[test]
    fn both_ways_lead_to_the_same_tokens_and_the_second_call_is_shorter() {
        let mut lengths = Vec::new();
        let mut all = Vec::new();
        for source in [TokenSource::Message, TokenSource::Text] {
            let cache = TokenCache::NamesAndTexts;
            let source = DocumentSource { source, cache };
            let (mut tokens, mut out) = (Tokens::new(cache), Vec::new());
            for n in 0..2 {
                let before = out.len();
                source.write(&Typed::Book(book(1, n)), &mut tokens, &mut out);
                lengths.push(out.len() - before);
            }
            let prepared = source.prepare(&Typed::Book(book(1, 2)));
            prepared.write(0, &mut tokens, &mut out);
            all.push(out);
        }
        assert!(lengths[1] * 2 < lengths[0], "{lengths:?}");
        assert_eq!(lengths[..2], lengths[2..]);
        assert_eq!(all[0], all[1]);
    }

    /// A kept prepared request equals a new encoding of it.
    #[test]
    fn a_prepared_request_has_the_tokens_that_its_connection_is_due() {
        let submit = |n| workload::call(Operation::Submit, 200 + 40 * n, 0, n).unwrap();
        let cache = TokenCache::NamesAndTexts;
        let source = TokenSource::Message;
        let prepared = DocumentSource { source, cache }.prepare(&submit(0));
        let (mut tokens, mut plain) = (Tokens::new(cache), Encoder::new(cache));
        let mut lengths = Vec::new();
        // Others come between, the later ones until the caches are full.
        for n in [0, 0, 0, 1, 0, 0, 40, 41, 42, 43, 44, 45, 46, 47, 0, 0, 0] {
            let (mut kept, mut anew) = (Vec::new(), Vec::new());
            match n {
                0 => prepared.write(0, &mut tokens, &mut kept),
                n => tokens.encoder.encode(&direct(&submit(n)), &mut kept),
            }
            plain.encode(&direct(&submit(n)), &mut anew);
            assert_eq!(kept, anew);
            lengths.extend((n == 0).then_some(kept.len()));
        }
        assert!(lengths[1] < lengths[0] && lengths[1] == lengths[2]);
        assert_eq!(tokens.requests[0].entered, Some(plain.insertions()));
    }

    /// In a mix one connection carries the prepared requests of several steps.
    #[test]
    fn prepared_requests_of_several_steps_do_not_take_each_other_s_tokens() {
        let submit = |n| workload::call(Operation::Submit, 200 + 40 * n, 0, n).unwrap();
        let cache = TokenCache::NamesAndTexts;
        let source = TokenSource::Message;
        let steps = [0, 1].map(|n| DocumentSource { source, cache }.prepare(&submit(n)));
        let (mut tokens, mut plain) = (Tokens::new(cache), Encoder::new(cache));
        for step in [0, 1, 0, 1, 1, 0, 0, 1] {
            let (mut kept, mut anew) = (Vec::new(), Vec::new());
            steps[step].write(step, &mut tokens, &mut kept);
            plain.encode(&direct(&submit(step as u64)), &mut anew);
            assert_eq!(kept, anew);
        }
        assert_ne!(tokens.requests[0].tokens, tokens.requests[1].tokens);
    }
}
