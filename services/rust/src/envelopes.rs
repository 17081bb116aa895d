//! Operations as SOAP envelopes, whatever carries them.

use wirelab_contract::{Operation, Unary, UnaryVisitor};
use wirelab_wire::soap::{
    Envelope, Fault, FaultCode, Form, Style, UsernameToken, Version, write_fault, write_reply,
};
use wirelab_wire::token_xml::Document;

use crate::config::ServiceConfig;
use crate::desk::Desk;
use crate::spoil::Spoiler;
use crate::stack::{Codec, SoapVersion};

/// How a service writes envelopes, and whom it serves.
#[derive(Debug, Clone)]
pub(crate) struct Envelopes {
    /// Version and style.
    pub(crate) form: Form,
    /// What requests must carry, if anything.
    pub(crate) token: Option<UsernameToken>,
    /// Envelopes are made without their text.
    tokens: bool,
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
    /// The text; that of a document is made.
    pub(crate) fn into_text(self) -> Vec<u8> {
        match self {
            Written::Text(text) => text,
            Written::Document(document) => document.to_xml(),
        }
    }

    /// The same envelope with the mistake of a mutant, where it has one.
    fn mutated(self, desk: &Desk) -> Self {
        let Some(mutation) = &desk.mutation else {
            return self;
        };
        let tokens = matches!(self, Written::Document(_));
        let mut text = self.into_text();
        mutation.bytes(&mut text);
        if !tokens {
            return Written::Text(text);
        }
        let document = Document::parse(&text);
        Written::Document(document.expect("mutants write well-formed documents"))
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

impl Envelopes {
    /// Envelopes of the version and style that were asked for.
    pub(crate) fn new(config: &ServiceConfig) -> Self {
        let version = match config.stack.soap.unwrap_or_default() {
            SoapVersion::V11 => Version::V11,
            SoapVersion::V12 => Version::V12,
        };
        let style = match config.stack.codec {
            Codec::SoapRpc => Style::Rpc,
            Codec::SoapEncoded => Style::Encoded,
            _ => Style::Literal,
        };
        let store = &config.store;
        let token = store.username.clone().zip(store.password.clone());
        Envelopes {
            form: Form::new(version, style).expect("the configuration was checked"),
            token: token.map(|(username, password)| UsernameToken { username, password }),
            tokens: config.stack.codec == Codec::TokenXml,
        }
    }

    /// Whether a request may be answered at all.
    ///
    /// # Errors
    /// The fault to answer with.
    pub(crate) fn admit(&self, envelope: &Envelope<'_>) -> Result<(), Fault> {
        envelope.admit(self.form, self.token.as_ref())
    }

    /// Answers a request that was admitted.
    ///
    /// # Errors
    /// When it is another message, or the contract refuses it.
    pub(crate) fn answer(
        &self,
        desk: &Desk,
        envelope: Envelope<'_>,
        operation: Operation,
        spoiler: Option<&Spoiler>,
    ) -> Result<Written, Refused> {
        let serve = Serve {
            envelopes: self,
            desk,
            envelope,
            spoiler,
        };
        operation
            .visit_unary(serve)
            .unwrap_or_else(|| Err(Fault::client("streams do not exist in SOAP").into()))
    }

    /// A fault as an envelope.
    pub(crate) fn refuse(&self, desk: &Desk, refused: &Refused) -> Written {
        let written = self.fault(&refused.fault);
        if refused.application {
            written.mutated(desk)
        } else {
            written
        }
    }

    /// A fault for which nobody is to blame but the fault switch.
    pub(crate) fn wrong_on_purpose(&self) -> Written {
        self.fault(&Fault {
            code: FaultCode::Server,
            text: "wrong on purpose".to_owned(),
        })
    }

    fn fault(&self, fault: &Fault) -> Written {
        if self.tokens {
            return Written::Document(Document::of_fault(fault));
        }
        let mut out = Vec::with_capacity(512);
        write_fault(self.form, fault, &mut out);
        Written::Text(out)
    }

    fn reply<O: Unary>(&self, reply: &O::Reply) -> Written {
        if self.tokens {
            return Written::Document(Document::of_reply(O::OPERATION, reply));
        }
        let mut out = Vec::with_capacity(512);
        write_reply(self.form, O::OPERATION, reply, &mut out);
        Written::Text(out)
    }
}

/// Answers one request.
struct Serve<'a, 'de> {
    envelopes: &'a Envelopes,
    desk: &'a Desk,
    envelope: Envelope<'de>,
    spoiler: Option<&'a Spoiler>,
}

impl UnaryVisitor for Serve<'_, '_> {
    type Output = Result<Written, Refused>;

    fn visit<O: Unary>(self) -> Self::Output {
        let form = self.envelopes.form;
        let read = self.envelope.request::<O::Request>(form, O::OPERATION);
        let request = read.map_err(|error| Fault::client(error.to_string()))?;
        let answered = self.desk.answer::<O>(request, self.spoiler);
        let reply = answered.map_err(|text| Refused {
            fault: Fault::client(text),
            application: true,
        })?;
        Ok(self.envelopes.reply::<O>(&reply).mutated(self.desk))
    }
}
