//! A service over the wire, as the examination sees it.

use wirelab_contract::calendar::BookRequest;
use wirelab_contract::{Call, Operation};
use wirelab_load::plan::Group;
use wirelab_load::result::Fault;
use wirelab_load::{RawResponse, Single};
use wirelab_stack::{Binding, Codec};
use wirelab_verify::{Response, Subject, Subjects};

use super::document::Document;
use super::observed::{self, Refusal};

/// The service that a document names.
pub(crate) struct Service {
    group: Group,
}

impl Service {
    pub(crate) fn new(document: &Document) -> Result<Service, Fault> {
        let group = document.group();
        // Tried once, so that an illegal document is refused and not reported as a finding.
        Single::new(&group)?;
        Ok(Service { group })
    }

    /// One more connection.
    pub(crate) fn connection(&self) -> Result<Connection, String> {
        let single = Single::new(&self.group).map_err(|fault| fault.message)?;
        Ok(Connection {
            single,
            binding: self.group.stack.binding,
            codec: self.group.stack.codec,
        })
    }
}

impl Subjects for Service {
    fn connect(&self) -> Result<Box<dyn Subject + Send>, String> {
        Ok(Box::new(self.connection()?))
    }
}

/// One connection, made when it is needed.
pub(crate) struct Connection {
    single: Single,
    pub(crate) binding: Binding,
    pub(crate) codec: Codec,
}

impl Connection {
    fn observe(&self, operation: Operation, response: Result<RawResponse, String>) -> Response {
        match response {
            Ok(response) => observed::of(
                self.binding,
                self.single.message_format(),
                operation,
                &response,
            ),
            Err(reason) => Response::Invalid(reason),
        }
    }

    /// Sends a message that another writer wrote.
    pub(crate) fn send(&mut self, operation: Operation, message: &[u8]) -> Response {
        let response = self.single.send(operation, message);
        self.observe(operation, response)
    }

    /// Sends a message to a path of its own, where it is to be refused.
    pub(crate) fn refusal(
        &mut self,
        operation: Operation,
        path: &str,
        message: &[u8],
    ) -> Result<Refusal, String> {
        let response = self.single.send_to(path, operation, message)?;
        observed::refusal(self.single.message_format(), operation, &response)
    }
}

impl Subject for Connection {
    fn call(&mut self, call: &Call) -> Response {
        let response = self.single.call(call);
        self.observe(call.operation(), response)
    }

    fn carries(&self, call: &Call) -> bool {
        let operation = call.operation();
        if operation.streaming() {
            return self.single.has(operation);
        }
        match (self.codec, call) {
            // Raw identifies an operation by its request, which is Hello's.
            (_, Call::HelloBytes { .. }) if self.binding == Binding::Raw => false,
            // Hello alone has a form as a text.
            (Codec::Text, Call::Hello { .. }) => true,
            (Codec::Text, _) => false,
            // JSON has no word for these (RFC 8259 section 6).
            (Codec::Json, Call::Book(BookRequest { weight, .. })) => weight.is_finite(),
            _ => true,
        }
    }
}
