//! Operations as SOAP envelopes, whatever carries them.

use std::future::{Future, ready};
use std::pin::Pin;

use wirelab_contract::{DATABASE_UNAVAILABLE, Message, Operation, Unary, UnaryVisitor};
use wirelab_wire_own::soap::{self, EnvelopeFormat, Fault, FaultCode, Style, UsernameToken};
use wirelab_wire_own::token_xml::{Cursor, Document};

use super::head::Head;
use super::{text, writer};
use crate::documents::config::ServiceConfig;
use crate::service::CallError;
use crate::service::corruption::Corruptor;
use crate::service::state::ServiceState;
use wirelab_stack::Codec;

/// How a service writes envelopes, and whom it serves.
#[derive(Debug, Clone)]
pub(crate) struct Envelopes {
    /// Version and style.
    pub(crate) form: EnvelopeFormat,
    /// What requests must carry, if anything.
    pub(crate) token: Option<UsernameToken>,
    /// Envelopes are made without their text.
    tokens: bool,
}

/// An envelope that came in, read up to its body's child.
pub(crate) enum Incoming<'de> {
    /// As text.
    Text(text::Envelope<'de>),
    /// As tokens, with what was read of them.
    Tokens(soap::Envelope<'de, Cursor<'de>>, Head),
}

impl<'de> Incoming<'de> {
    /// Reads a document of text.
    ///
    /// # Errors
    /// The fault to answer with.
    pub(crate) fn text(document: &'de [u8]) -> Result<Self, Fault> {
        Ok(Incoming::Text(text::Envelope::parse(document)?))
    }

    /// Reads a document of tokens.
    ///
    /// # Errors
    /// The fault to answer with.
    pub(crate) fn tokens(document: &'de Document) -> Result<Self, Fault> {
        let envelope = document.envelope().map_err(|error| Fault::from(&error))?;
        let head = Head::of_tokens(&envelope);
        Ok(Incoming::Tokens(envelope, head))
    }

    /// What it says before its message.
    pub(crate) fn head(&self) -> &Head {
        match self {
            Incoming::Text(envelope) => &envelope.head,
            Incoming::Tokens(_, head) => head,
        }
    }

    fn request<M: Message>(self, form: EnvelopeFormat, operation: Operation) -> Result<M, Fault> {
        let read = match self {
            Incoming::Text(envelope) => envelope
                .request(form, operation)
                .map_err(|error| error.to_string()),
            Incoming::Tokens(envelope, _) => envelope
                .request(form, operation)
                .map_err(|error| error.to_string()),
        };
        read.map_err(Fault::client)
    }
}

/// An envelope that goes out.
#[derive(Debug)]
pub(crate) enum Written {
    /// As a text.
    Text(Vec<u8>),
    /// As what tokens are made of.
    Document(Document),
}

impl Written {
    /// The same envelope with the mistake of a mutant, where it has one and the envelope
    /// is text; mutants of formats show in text only.
    fn mutated(mut self, state: &ServiceState) -> Self {
        if let (Some(mutation), Written::Text(text)) = (&state.mutation, &mut self) {
            mutation.bytes(text);
        }
        self
    }
}

/// A request that gets a fault.
#[derive(Debug)]
pub(crate) struct Refused {
    /// The fault.
    pub(crate) fault: Fault,
    /// The contract demands it.
    pub(crate) application: bool,
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Refused {
            fault,
            application: false,
        }
    }
}

impl From<CallError> for Refused {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Application(text) | CallError::NotFound(text) => Refused {
                fault: Fault::client(text),
                application: true,
            },
            // Server, not Client: the same request may succeed later (SOAP 1.1 section 4.4.1).
            CallError::Unavailable => Refused::from(Fault {
                code: FaultCode::Server,
                text: DATABASE_UNAVAILABLE.to_owned(),
            }),
        }
    }
}

impl Envelopes {
    /// Envelopes of the version and style that were asked for.
    pub(crate) fn new(config: &ServiceConfig) -> Self {
        // raw has no axis `soap`: its envelopes are of version 1.1.
        let version = config.stack.soap.unwrap_or_default().into();
        let style = match config.stack.codec {
            Codec::SoapRpc => Style::Rpc,
            Codec::SoapEncoded => Style::Encoded,
            // token-xml too: its tokens stand for a document/literal envelope.
            _ => Style::Literal,
        };
        let store = &config.store;
        let token = store.username.clone().zip(store.password.clone());
        Envelopes {
            form: EnvelopeFormat::new(version, style).expect("the configuration was checked"),
            token: token.map(|(username, password)| UsernameToken { username, password }),
            tokens: config.stack.codec == Codec::TokenXml,
        }
    }

    /// Whether a request may be answered at all.
    ///
    /// # Errors
    /// The fault to answer with.
    pub(crate) fn admit(&self, envelope: &Incoming<'_>) -> Result<(), Fault> {
        envelope.head().admit(self.form, self.token.as_ref())
    }

    /// Answers a request that was admitted.
    ///
    /// # Errors
    /// When it is another message, or the contract refuses it.
    pub(crate) async fn answer(
        &self,
        state: &ServiceState,
        envelope: Incoming<'_>,
        operation: Operation,
        corruptor: Option<&Corruptor>,
    ) -> Result<Written, Refused> {
        let serve = Serve {
            envelopes: self,
            state,
            envelope,
            corruptor,
        };
        match operation.visit_unary(serve) {
            Some(answering) => answering.await,
            None => Err(Fault::client("streams do not exist in SOAP").into()),
        }
    }

    /// A fault as an envelope.
    pub(crate) fn refuse(&self, state: &ServiceState, refused: &Refused) -> Written {
        // A mutant changes what the contract demands, not what a broken request gets.
        if !refused.application {
            return self.fault(&refused.fault);
        }
        let mut fault = refused.fault.clone();
        if let Some(mutation) = &state.mutation {
            mutation.fault(&mut fault);
        }
        self.fault(&fault).mutated(state)
    }

    /// The fault of a fault switch.
    pub(crate) fn injected_fault(&self) -> Written {
        self.fault(&Fault {
            code: FaultCode::Server,
            text: "wrong on purpose".to_owned(),
        })
    }

    fn fault(&self, fault: &Fault) -> Written {
        if self.tokens {
            return Written::Document(Document::of_fault(fault));
        }
        Written::Text(writer::fault(self.form, fault))
    }

    fn reply<O: Unary>(&self, reply: O::Reply) -> Written {
        if self.tokens {
            return Written::Document(Document::of_reply(O::OPERATION, &reply));
        }
        Written::Text(writer::reply(self.form, O::OPERATION, reply))
    }
}

/// Answers one request.
struct Serve<'a, 'de> {
    envelopes: &'a Envelopes,
    state: &'a ServiceState,
    envelope: Incoming<'de>,
    corruptor: Option<&'a Corruptor>,
}

type Answering<'a> = Pin<Box<dyn Future<Output = Result<Written, Refused>> + Send + 'a>>;

impl<'a> UnaryVisitor for Serve<'a, '_> {
    type Output = Answering<'a>;

    fn visit<O: Unary>(self) -> Answering<'a> {
        let Serve {
            envelopes,
            state,
            envelope,
            corruptor,
        } = self;
        if const { O::Request::CONTRACT.is_json_and_protobuf_only() } {
            let fault = Fault::client("the contract is not served over SOAP");
            return Box::pin(ready(Err(fault.into())));
        }
        // Read before the future is made: the envelope borrows the document, and the future
        // must be Send.
        let request = envelope.request::<O::Request>(envelopes.form, O::OPERATION);
        Box::pin(async move {
            let reply = state.answer::<O>(request?, corruptor).await?;
            Ok(envelopes.reply::<O>(reply).mutated(state))
        })
    }
}
