//! One call: a request's bytes are answered by a reply's.

use super::rules::{Number, Numbered, Renumber, Value, digest};

/// Why a call has no reply.
pub enum Failure {
    /// The request is not the message.
    Malformed(String),
    /// The same, where SOAP has a code of its own for it.
    Fault(&'static str, String),
    /// The reply has no form in the codec.
    Internal(String),
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Failure::Malformed(text)
    }
}

/// Answers the body of a request by that of its reply.
pub type Exchange = Box<dyn Fn(&[u8]) -> Result<Vec<u8>, Failure> + Send + Sync>;

/// The call in a codec. Each call decodes its request, and makes and encodes a reply of its own.
pub fn exchange<Q, R, E>(
    sample: R,
    numbered: Numbered,
    read: fn(&[u8]) -> Result<Q, E>,
    write: fn(&R) -> Result<Vec<u8>, String>,
) -> Exchange
where
    Q: Value + 'static,
    R: Renumber + Send + Sync + 'static,
    E: Into<Failure> + 'static,
{
    Box::new(move |body| {
        let request = read(body).map_err(Into::into)?;
        let number = Number::of(digest(&request), numbered);
        write(&sample.renumber(&number)).map_err(Failure::Internal)
    })
}
