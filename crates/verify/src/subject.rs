//! What is examined.

use wirelab_contract::stream::Item;
use wirelab_contract::{Call, Reply};

/// The response of a subject to a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Response {
    /// A whole and well-formed reply.
    Reply(Reply),
    /// The chunks of a download, in their order.
    Chunks(Vec<Vec<u8>>),
    /// The items of Feed or Chat, in their order.
    Items(Vec<Item>),
    /// An application error with that text, in the form that the binding
    /// demands (status, fault code, exception).
    Error(String),
    /// Anything else: a wrong status or form, a broken connection, silence.
    Invalid(String),
}

/// One connection to a service with a store of its own, not used before.
pub trait Subject {
    /// Makes one call and waits for its response.
    fn call(&mut self, call: &Call) -> Response;

    /// Whether its stack has a form for this call: most streams exist in gRPC only,
    /// and JSON has no NaN.
    fn carries(&self, call: &Call) -> bool {
        // Most subjects carry every call, as the models in tests do.
        let _ = call;
        true
    }
}

/// A service that several connections can be made to.
pub trait Subjects: Sync {
    /// One more connection to the same service.
    ///
    /// # Errors
    /// When it cannot be reached; the text states why.
    fn connect(&self) -> Result<Box<dyn Subject + Send>, String>;
}
