//! Contents as tokens (docs/reference/token-xml.md).

use std::sync::Arc;

use crate::ProtocolError;
use crate::session::{CallId, Replies, Request};
use crate::token_xml::{Decoder, Document, Encoder};

/// Where the tokens of a request come from, and what becomes of a reply's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tokens {
    /// Encoded from [`Request::document`]; replies are handed on by
    /// [`Replies::document`].
    Direct,
    /// As the study had to: [`Request::body`] is an XML text that is parsed for
    /// every send, and replies are written out as text for [`Replies::body`].
    ByWayOfText,
}

/// Both directions of one connection that carries tokens.
#[derive(Debug)]
pub(super) struct Coder {
    tokens: Tokens,
    encoder: Encoder,
    decoder: Decoder,
    /// The content of the reply under way.
    content: Vec<u8>,
}

impl Coder {
    pub(super) fn new(tokens: Tokens) -> Coder {
        Coder {
            tokens,
            encoder: Encoder::new(),
            decoder: Decoder::new(),
            content: Vec::new(),
        }
    }

    /// The tokens of a request. They must be sent, and in this order.
    pub(super) fn encode(&mut self, request: &Request) -> Arc<[u8]> {
        let mut content = Vec::new();
        match self.tokens {
            Tokens::Direct => {
                let document = request.document.as_ref();
                let document = document.expect("checked requests have their document");
                self.encoder.encode(document, &mut content);
            }
            Tokens::ByWayOfText => {
                let document = Document::parse(&request.body);
                let document = document.expect("checked requests are XML");
                self.encoder.encode(&document, &mut content);
            }
        }
        content.into()
    }

    /// Keeps the next bytes of a reply.
    pub(super) fn keep(&mut self, bytes: &[u8]) {
        self.content.extend_from_slice(bytes);
    }

    /// A reply is complete.
    pub(super) fn decode(
        &mut self,
        call: CallId,
        replies: &mut impl Replies,
    ) -> Result<(), ProtocolError> {
        let decoded = self.decoder.decode(&self.content);
        self.content.clear();
        let document = decoded.map_err(|error| ProtocolError {
            rule: "a reply is a document of tokens (docs/reference/token-xml.md)",
            found: error.to_string(),
        })?;
        match self.tokens {
            Tokens::Direct => replies.document(call, &document),
            Tokens::ByWayOfText => replies.body(call, &document.to_xml()),
        }
        Ok(())
    }
}
