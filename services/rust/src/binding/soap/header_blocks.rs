//! The header of an envelope as text, up to its body.

use quick_xml::name::{Namespace, ResolveResult};
use quick_xml::{NsReader, XmlVersion};
use serde::Deserialize;
use wirelab_wire_own::soap::{UsernameToken, Version, WSSE};

use super::head::HeaderBlock;
use crate::codec::xml::{self, Element, XmlError};

/// The password's type (WSS UsernameToken Profile 1.1, section 3.1); also what it is
/// without one.
const PASSWORD_TEXT: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordText";

/// Actors and roles for which a header block is meant for the service, not for another
/// node on the way (SOAP 1.1 section 4.2.2; SOAP 1.2 part 1, section 2.2).
const OWN_ROLES: [&str; 4] = [
    "",
    "http://schemas.xmlsoap.org/soap/actor/next",
    "http://www.w3.org/2003/05/soap-envelope/role/next",
    "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver",
];

type Header = (Vec<HeaderBlock>, Option<UsernameToken>);

/// Opens the body of the open envelope, and reads the header before it.
pub(super) fn open_body(
    reader: &mut NsReader<&[u8]>,
    version: Version,
) -> Result<Header, XmlError> {
    const NO_BODY: XmlError = XmlError::Structure("an envelope without a body");
    let mut header = Header::default();
    let mut child = xml::next_child(reader)?.ok_or(NO_BODY)?;
    if child.is(version.namespace(), "Header") {
        header = read_header(reader, version)?;
        child = xml::next_child(reader)?.ok_or(NO_BODY)?;
    }
    child.prove(version.namespace(), "Body")?;
    Ok(header)
}

/// Reads the blocks of the open `Header`, which ends.
fn read_header(reader: &mut NsReader<&[u8]>, version: Version) -> Result<Header, XmlError> {
    let mut header = Header::default();
    loop {
        // The block is read twice: as an element with its attributes, and by serde as a token.
        let before = reader.clone();
        let Some(block) = xml::next_child(reader)? else {
            return Ok(header);
        };
        if block.is(WSSE, "Security") {
            header.1 = xml::read_element::<Security>(before)?.0.token();
        }
        // The Security block counts too: without a configured token it is not understood.
        let must_understand = must_understand(reader, &block, version)?;
        xml::skip(reader, &block)?;
        header.0.push(HeaderBlock {
            namespace: block.namespace,
            name: block.name,
            must_understand,
        });
    }
}

fn must_understand(
    reader: &NsReader<&[u8]>,
    block: &Element<'_>,
    version: Version,
) -> Result<bool, XmlError> {
    let role = match version {
        Version::V11 => "actor",
        Version::V12 => "role",
    };
    // Without an actor or role a block is meant for the last node: this service.
    let (mut demanded, mut own) = (false, true);
    for attribute in block.tag.attributes() {
        let attribute = attribute.map_err(quick_xml::Error::from)?;
        let (namespace, name) = reader.resolver().resolve_attribute(attribute.key);
        // Attributes have no default namespace, so that only a prefixed one counts.
        if namespace != ResolveResult::Bound(Namespace(version.namespace())) {
            continue;
        }
        let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
        if name.into_inner() == "mustUnderstand" {
            // SOAP 1.1 knows 1 and 0, SOAP 1.2 also true and false.
            demanded = matches!(value.trim(), "1" | "true");
        } else if name.into_inner() == role {
            own = OWN_ROLES.contains(&value.trim());
        }
    }
    Ok(demanded && own)
}

/// A block of WS-Security.
#[derive(Deserialize)]
struct Security {
    #[serde(rename = "UsernameToken")]
    token: Option<Token>,
}

#[derive(Deserialize)]
struct Token {
    #[serde(rename = "Username")]
    username: Option<String>,
    #[serde(rename = "Password")]
    password: Option<Password>,
}

#[derive(Deserialize)]
struct Password {
    #[serde(rename = "@Type")]
    kind: Option<String>,
    #[serde(rename = "$text", default)]
    text: String,
}

impl Security {
    /// None when it holds no UsernameToken with a password as text.
    fn token(self) -> Option<UsernameToken> {
        let Token { username, password } = self.token?;
        let password = password?;
        let as_text = password
            .kind
            .is_none_or(|kind| kind.trim() == PASSWORD_TEXT);
        as_text.then_some(UsernameToken {
            username: username?,
            password: password.text,
        })
    }
}
