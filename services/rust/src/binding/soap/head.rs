//! What an envelope says before its message is read, and whether it may be answered.

use wirelab_wire_own::soap::{
    Envelope, EnvelopeFormat, Fault, FaultCode, UsernameToken, Version, WSSE,
};
use wirelab_wire_own::token_xml::Cursor;

/// An envelope up to its body's child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// The version that it is written in.
    pub(crate) version: Version,
    /// The blocks of its header.
    pub(crate) blocks: Vec<HeaderBlock>,
    /// Name and password, where the header has them as text.
    pub(crate) token: Option<UsernameToken>,
    /// The namespace of the body's child; empty for none.
    pub(crate) body_namespace: String,
    /// The local name of the body's child.
    pub(crate) body_name: String,
}

/// A block of an envelope's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeaderBlock {
    /// Its namespace; empty for none.
    pub(crate) namespace: String,
    /// Its local name.
    pub(crate) name: String,
    /// Whether a service that does not know it must refuse the request.
    pub(crate) must_understand: bool,
}

impl Head {
    /// That of an envelope in tokens.
    pub(crate) fn of_tokens(envelope: &Envelope<'_, Cursor<'_>>) -> Self {
        let blocks = envelope.headers().iter().map(|block| HeaderBlock {
            namespace: block.namespace.to_owned(),
            name: block.name.to_owned(),
            must_understand: block.must_understand,
        });
        Head {
            version: envelope.version(),
            blocks: blocks.collect(),
            token: envelope.token().cloned(),
            body_namespace: envelope.body().namespace.to_owned(),
            body_name: envelope.body().name.to_owned(),
        }
    }

    /// What a service asks of every request, in SOAP's order: its own version, no header
    /// block that must be understood but is not, and, where it wants one, the right
    /// token.
    ///
    /// # Errors
    /// The fault to answer with.
    pub(crate) fn admit(
        &self,
        form: EnvelopeFormat,
        expected: Option<&UsernameToken>,
    ) -> Result<(), Fault> {
        // Before the header: a block of the other version has another meaning of mustUnderstand.
        if self.version != form.version() {
            return Err(Fault {
                code: FaultCode::VersionMismatch,
                text: "this service speaks the other version of SOAP".to_owned(),
            });
        }
        let known = |block: &HeaderBlock| {
            // Without a token configured the block is not read, and so not understood.
            expected.is_some() && block.namespace == WSSE && block.name == "Security"
        };
        let mut blocks = self.blocks.iter();
        if let Some(block) = blocks.find(|block| block.must_understand && !known(block)) {
            return Err(Fault {
                code: FaultCode::MustUnderstand,
                text: format!("header block {} is not understood", block.name),
            });
        }
        // No comparison in constant time: name and password of an experiment are in its file.
        if expected.is_some() && self.token.as_ref() != expected {
            return Err(Fault::client("authentication failed"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirelab_wire_own::soap::Style;

    fn head(version: Version, blocks: Vec<HeaderBlock>, token: Option<UsernameToken>) -> Head {
        Head {
            version,
            blocks,
            token,
            body_namespace: "urn:x".to_owned(),
            body_name: "x".to_owned(),
        }
    }

    fn security() -> HeaderBlock {
        HeaderBlock {
            namespace: WSSE.to_owned(),
            name: "Security".to_owned(),
            must_understand: true,
        }
    }

    fn token(password: &str) -> UsernameToken {
        UsernameToken {
            username: "lab".to_owned(),
            password: password.to_owned(),
        }
    }

    #[test]
    fn requests_are_admitted_by_version_header_and_token_in_this_order() {
        for version in Version::ALL {
            let form = EnvelopeFormat::new(version, Style::Literal).expect("a form");
            let signed = head(version, vec![security()], Some(token("a & b")));
            assert_eq!(signed.admit(form, Some(&token("a & b"))), Ok(()));
            let other = signed.admit(form, Some(&token("c")));
            assert_eq!(other, Err(Fault::client("authentication failed")));
            let unknown = signed.admit(form, None).expect_err("no token is known");
            assert_eq!(unknown.code, FaultCode::MustUnderstand);
            let bare = head(version, Vec::new(), None);
            assert_eq!(bare.admit(form, None), Ok(()));
            // No header at all, where a token is demanded.
            let demanded = bare.admit(form, Some(&token("c")));
            assert_eq!(demanded, Err(Fault::client("authentication failed")));
            let mut versions = Version::ALL.into_iter();
            let another = versions.find(|other| *other != version).expect("two");
            let mismatch = head(another, vec![security()], None).admit(form, None);
            assert_eq!(
                mismatch.expect_err("another version").code,
                FaultCode::VersionMismatch
            );
        }
    }
}
