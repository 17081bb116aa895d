//! permessage-deflate in the handshake: what a client offers, and what a server may answer
//! (RFC 7692 sections 5 and 7.1).

use std::fmt;

use super::frame::violation;
use crate::excerpt::excerpt;
use crate::session::ProtocolError;

const NAME: &str = "permessage-deflate";
const SERVER_FORGETS: &str = "server_no_context_takeover";
const CLIENT_FORGETS: &str = "client_no_context_takeover";
const SERVER_WINDOW: &str = "server_max_window_bits";
const CLIENT_WINDOW: &str = "client_max_window_bits";

/// Bits of the window where none are agreed: 32 KiB, the largest of DEFLATE (section 7.1.2).
const WINDOW_BITS: u8 = 15;

/// A client's offer of permessage-deflate. `client_no_context_takeover` is always a part of it,
/// since each message is compressed by itself, and `client_max_window_bits` never: a message is
/// compressed before it is known which connection carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeflateOffer {
    /// Demands that the server compresses each message by itself (section 7.1.1.1).
    pub server_no_context_takeover: bool,
    /// Demands that the server's window has at most that many bits, 8 to 15 (section 7.1.2.1).
    pub server_max_window_bits: Option<u8>,
}

/// What a server agreed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deflate {
    /// It compresses each message by itself; else a message may refer to those before.
    pub server_no_context_takeover: bool,
    /// It expects that of the client too.
    pub client_no_context_takeover: bool,
    /// Bits of its window, 8 to 15.
    pub server_max_window_bits: u8,
}

/// How a server answered an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Negotiated {
    /// Messages may be compressed.
    Deflate(Deflate),
    /// They may not.
    Declined,
}

impl fmt::Display for DeflateOffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAME}; {CLIENT_FORGETS}")?;
        if self.server_no_context_takeover {
            write!(f, "; {SERVER_FORGETS}")?;
        }
        match self.server_max_window_bits {
            Some(bits) => write!(f, "; {SERVER_WINDOW}={bits}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Negotiated {
    /// The extension in the words of the standard, its parameters in one order; `none` where it
    /// was declined.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Negotiated::Deflate(agreed) = self else {
            return f.write_str("none");
        };
        f.write_str(NAME)?;
        if agreed.server_no_context_takeover {
            write!(f, "; {SERVER_FORGETS}")?;
        }
        if agreed.client_no_context_takeover {
            write!(f, "; {CLIENT_FORGETS}")?;
        }
        match agreed.server_max_window_bits {
            WINDOW_BITS => Ok(()),
            bits => write!(f, "; {SERVER_WINDOW}={bits}"),
        }
    }
}

impl DeflateOffer {
    /// What the server's `Sec-WebSocket-Extensions` agrees to; empty without that field.
    ///
    /// # Errors
    /// When the answer is not one to this offer: the connection must then be failed (RFC 7692
    /// section 5.2).
    pub fn answered_by(&self, field: &str) -> Result<Negotiated, ProtocolError> {
        if field.trim().is_empty() {
            return Ok(Negotiated::Declined);
        }
        let mut extensions = split(field, b',');
        let first = extensions.next().unwrap_or_default();
        if extensions.next().is_some() {
            return Err(violation(
                "a server accepts one offer of an extension (RFC 7692 section 5.1)",
                excerpt(field.as_bytes()),
            ));
        }
        let mut parts = split(first, b';');
        if parts.next().unwrap_or_default() != NAME {
            return Err(violation(
                "a server takes only an extension that was offered (RFC 6455 section 4.1)",
                excerpt(field.as_bytes()),
            ));
        }
        let mut found = Parameters::default();
        parts.try_for_each(|parameter| found.take(parameter))?;
        self.check(&found).map(Negotiated::Deflate)
    }

    /// RFC 7692 sections 7.1.1.1, 7.1.2.1 and 7.1.2.2.
    fn check(&self, found: &Parameters) -> Result<Deflate, ProtocolError> {
        if found.client_window.is_some() {
            return Err(violation(
                "client_max_window_bits is answered where it was offered (RFC 7692 section 7.1.2.2)",
                "it was not offered",
            ));
        }
        if self.server_no_context_takeover && !found.server_forgets {
            return Err(violation(
                "a server that accepts server_no_context_takeover answers with it (RFC 7692 section 7.1.1.1)",
                "an answer without it",
            ));
        }
        let bits = found.server_window.unwrap_or(WINDOW_BITS);
        if let Some(most) = self.server_max_window_bits
            && (bits > most || found.server_window.is_none())
        {
            return Err(violation(
                "a server that accepts server_max_window_bits answers with the same or less (RFC 7692 section 7.1.2.1)",
                format!("{bits} bits, and {most} were offered"),
            ));
        }
        Ok(Deflate {
            server_no_context_takeover: found.server_forgets,
            client_no_context_takeover: found.client_forgets,
            server_max_window_bits: bits,
        })
    }
}

/// The parameters of an answer, each at most once.
#[derive(Debug, Default)]
struct Parameters {
    server_forgets: bool,
    client_forgets: bool,
    server_window: Option<u8>,
    client_window: Option<u8>,
}

impl Parameters {
    fn take(&mut self, parameter: &str) -> Result<(), ProtocolError> {
        let (name, value) = match parameter.split_once('=') {
            Some((name, value)) => (name.trim_end(), Some(value.trim_start())),
            None => (parameter, None),
        };
        let is_new = match name {
            SERVER_FORGETS => set_flag(&mut self.server_forgets, name, value)?,
            CLIENT_FORGETS => set_flag(&mut self.client_forgets, name, value)?,
            SERVER_WINDOW => self.server_window.replace(bits(name, value)?).is_none(),
            CLIENT_WINDOW => self.client_window.replace(bits(name, value)?).is_none(),
            _ => {
                return Err(violation(
                    "permessage-deflate has four parameters (RFC 7692 section 7.1)",
                    excerpt(parameter.as_bytes()),
                ));
            }
        };
        match is_new {
            true => Ok(()),
            false => Err(violation(
                "a parameter of permessage-deflate is given once (RFC 7692 section 7.1)",
                name,
            )),
        }
    }
}

/// False where it was set before.
fn set_flag(flag: &mut bool, name: &str, value: Option<&str>) -> Result<bool, ProtocolError> {
    match value {
        None => Ok(!std::mem::replace(flag, true)),
        Some(value) => Err(violation(
            "no_context_takeover has no value (RFC 7692 section 7.1.1)",
            format!("{name} with {}", excerpt(value.as_bytes())),
        )),
    }
}

/// RFC 7692 section 7.1.2.1: a decimal from 8 to 15 without leading zeroes, which may be quoted
/// (RFC 6455 section 9.1).
fn bits(name: &str, value: Option<&str>) -> Result<u8, ProtocolError> {
    let text = value.unwrap_or_default();
    let quoted = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match quoted.unwrap_or(text).as_bytes() {
        [digit @ (b'8' | b'9')] => Ok(digit - b'0'),
        [b'1', digit @ b'0'..=b'5'] => Ok(10 + digit - b'0'),
        _ => Err(violation(
            "max_window_bits is a number from 8 to 15 without leading zeroes (RFC 7692 section 7.1.2)",
            format!("{name} with {}", excerpt(text.as_bytes())),
        )),
    }
}

/// The trimmed parts of a list between separators that are not quoted.
fn split(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let parts = text.split(move |letter: char| {
        is_quoted ^= letter == '"';
        letter == char::from(separator) && !is_quoted
    });
    parts.map(|part| part.trim_matches([' ', '\t']))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: DeflateOffer = DeflateOffer {
        server_no_context_takeover: false,
        server_max_window_bits: None,
    };
    const NARROW: DeflateOffer = DeflateOffer {
        server_no_context_takeover: true,
        server_max_window_bits: Some(10),
    };

    #[test]
    fn an_offer_is_in_the_words_of_the_standard() {
        assert_eq!(
            PLAIN.to_string(),
            "permessage-deflate; client_no_context_takeover"
        );
        assert_eq!(
            NARROW.to_string(),
            "permessage-deflate; client_no_context_takeover; server_no_context_takeover; \
             server_max_window_bits=10"
        );
    }

    #[test]
    fn legal_answers_are_read() {
        for (offer, field, found) in [
            (PLAIN, "", "none"),
            (PLAIN, "permessage-deflate", "permessage-deflate"),
            (
                PLAIN,
                "permessage-deflate; server_max_window_bits=\"9\" ;client_no_context_takeover",
                "permessage-deflate; client_no_context_takeover; server_max_window_bits=9",
            ),
            (
                PLAIN,
                "permessage-deflate;server_no_context_takeover",
                "permessage-deflate; server_no_context_takeover",
            ),
            (
                NARROW,
                "permessage-deflate; server_max_window_bits = 8; server_no_context_takeover",
                "permessage-deflate; server_no_context_takeover; server_max_window_bits=8",
            ),
            (
                PLAIN,
                "permessage-deflate; server_max_window_bits=15",
                "permessage-deflate",
            ),
        ] {
            assert_eq!(offer.answered_by(field).unwrap().to_string(), found);
        }
    }

    #[test]
    fn answers_that_the_standard_forbids_are_refused_with_the_rule() {
        for (offer, field, rule) in [
            (PLAIN, "x-webkit-deflate-frame", "that was offered"),
            (PLAIN, "permessage-deflate, permessage-deflate", "one offer"),
            (PLAIN, "permessage-deflate,", "one offer"),
            (PLAIN, ";", "that was offered"),
            (PLAIN, "permessage-deflate;", "four parameters"),
            (PLAIN, "permessage-deflate; x", "four parameters"),
            (
                PLAIN,
                "permessage-deflate; Server_No_Context_Takeover",
                "four parameters",
            ),
            (
                PLAIN,
                "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
                "given once",
            ),
            (
                PLAIN,
                "permessage-deflate; server_max_window_bits=9; server_max_window_bits=10",
                "given once",
            ),
            (
                PLAIN,
                "permessage-deflate; server_no_context_takeover=1",
                "has no value",
            ),
            (
                PLAIN,
                "permessage-deflate; client_max_window_bits=10",
                "where it was offered",
            ),
            (
                PLAIN,
                "permessage-deflate; client_max_window_bits",
                "from 8 to 15",
            ),
            (
                PLAIN,
                "permessage-deflate; server_max_window_bits",
                "from 8 to 15",
            ),
            (
                PLAIN,
                "permessage-deflate; server_max_window_bits=7",
                "from 8 to 15",
            ),
            (
                PLAIN,
                "permessage-deflate; server_max_window_bits=16",
                "from 8 to 15",
            ),
            (
                PLAIN,
                "permessage-deflate; server_max_window_bits=08",
                "from 8 to 15",
            ),
            (
                PLAIN,
                "permessage-deflate; server_max_window_bits=\"9",
                "from 8 to 15",
            ),
            (
                NARROW,
                "permessage-deflate; server_max_window_bits=10",
                "answers with it",
            ),
            (
                NARROW,
                "permessage-deflate; server_no_context_takeover; server_max_window_bits=11",
                "the same or less",
            ),
            (
                NARROW,
                "permessage-deflate; server_no_context_takeover",
                "the same or less",
            ),
        ] {
            let error = offer.answered_by(field).expect_err(field);
            assert!(error.rule.contains(rule), "{field}: {error}");
        }
    }
}
