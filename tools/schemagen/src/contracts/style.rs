//! The styles in which SOAP carries a contract.

/// A style and use of WSDL 1.1 (section 3.3), as the axis `codec` has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `soap-literal`: document/literal, bare.
    Document,
    /// `soap-rpc`: rpc/literal.
    Rpc,
    /// `soap-encoded`: rpc/encoded, SOAP 1.1 only.
    Encoded,
}
