//! Name and password in an envelope's header (OASIS WSS UsernameToken Profile
//! 1.1, section 3.1, with PasswordText).

use crate::infoset::source::Source;
use crate::infoset::writer::Sink;
use crate::infoset::{Error, chars};

use super::format::EnvelopeFormat;

/// The namespace of `Security` and `UsernameToken`.
pub const WSSE: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";

/// The password's type; also what it is without one.
const PASSWORD_TEXT: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordText";

/// Who calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsernameToken {
    /// The name.
    pub username: String,
    /// The password as it is.
    pub password: String,
}

/// Writes the header of an envelope.
pub(super) fn write_header<S: Sink>(format: EnvelopeFormat, token: &UsernameToken, sink: &mut S) {
    let names = format.names();
    sink.open(names.header);
    sink.open("wsse:Security");
    sink.attribute("xmlns:wsse", WSSE);
    // A service that ignored the block would serve callers without checking who they
    // are.
    sink.attribute(names.must_understand, "1");
    sink.open("wsse:UsernameToken");
    sink.open("wsse:Username");
    sink.text(&token.username);
    sink.close("wsse:Username");
    sink.open("wsse:Password");
    sink.attribute("Type", PASSWORD_TEXT);
    sink.text(&token.password);
    sink.close("wsse:Password");
    sink.close("wsse:UsernameToken");
    sink.close("wsse:Security");
    sink.close(names.header);
}

/// Reads the open `Security` block, which ends. `None` when it holds no
/// UsernameToken with a password as text.
pub(super) fn read_block<'de>(
    source: &mut impl Source<'de>,
) -> Result<Option<UsernameToken>, Error> {
    let mut token = None;
    while let Some(child) = source.child()? {
        if child.is(WSSE, "UsernameToken") {
            token = read_token(source)?;
        } else {
            source.skip()?;
        }
    }
    Ok(token)
}

fn read_token<'de>(source: &mut impl Source<'de>) -> Result<Option<UsernameToken>, Error> {
    let mut username = None;
    let mut password = None;
    while let Some(child) = source.child()? {
        if child.is(WSSE, "Username") {
            username = Some(source.text()?.into_str().into_owned());
        // Digests need a nonce and a clock, which no contract here has.
        } else if child.is(WSSE, "Password") && is_text(source)? {
            password = Some(source.text()?.into_str().into_owned());
        } else {
            source.skip()?;
        }
    }
    Ok(username
        .zip(password)
        .map(|(username, password)| UsernameToken { username, password }))
}

fn is_text<'de>(source: &impl Source<'de>) -> Result<bool, Error> {
    let kind = source.attribute("", "Type")?;
    Ok(kind.is_none_or(|kind| chars::trim(&kind) == PASSWORD_TEXT))
}
