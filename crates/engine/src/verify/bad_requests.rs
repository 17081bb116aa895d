//! Requests of petclinic over REST that are not calls: bodies that are not a message,
//! and parameters that are not a number. The operations of petclinic depend on what was called
//! before, so that the golden vectors have none of them.

use wirelab_contract::petclinic::ListVetsRequest;
use wirelab_contract::{ApplicationError, Call, Contract, Operation};
use wirelab_stack::Codec;
use wirelab_verify::{Exam, Finding, Response, Section, Subject as _};

use super::connection::{Connection, Service};
use super::observed::Refusal;

/// Texts that are not an int32.
const NO_NUMBERS: [&str; 4] = ["x", "2147483648", "1.5", "-"];

/// Sends every operation what it must refuse.
pub(crate) fn exam(service: &Service) -> Result<Exam, String> {
    let mut sender = Sender {
        connection: service.connection()?,
        calls: 0,
        findings: Vec::new(),
    };
    for operation in Operation::all_of(Contract::Petclinic) {
        sender.bodies(operation);
        sender.parameters(operation);
    }
    sender.row_with_id();
    sender.still_serves();
    Ok(Exam {
        section: Section::Vectors,
        calls: sender.calls,
        findings: sender.findings,
        left_out: Vec::new(),
    })
}

struct Sender {
    connection: Connection,
    calls: u64,
    findings: Vec<Finding>,
}

impl Sender {
    fn bodies(&mut self, operation: Operation) {
        let Some(route) = operation.route().filter(|route| route.has_body()) else {
            return;
        };
        let bodies: &[&[u8]] = match self.connection.codec {
            Codec::Json => &[b"", b"{", b"[]", b"{}{}", b"\xff"],
            // A number that does not end, a text of which only one byte of five is there.
            _ => &[b"\x08", b"\x0a\x05a"],
        };
        let path = fill(&format!("{}{}", route.prefix, route.template), "1");
        for body in bodies {
            self.refuses("a body that is not a message", operation, &path, body, true);
        }
    }

    fn parameters(&mut self, operation: Operation) {
        let Some(route) = operation
            .route()
            .filter(|route| route.template.contains('{'))
        else {
            return;
        };
        let no_fields = self.send_without_fields();
        for text in NO_NUMBERS {
            let path = fill(&format!("{}{}", route.prefix, route.template), text);
            let name = "a parameter that is not an int32";
            self.refuses(name, operation, &path, no_fields, false);
        }
    }

    /// A message all of whose fields are absent.
    fn send_without_fields(&self) -> &'static [u8] {
        match self.connection.codec {
            Codec::Json => b"{}",
            _ => b"",
        }
    }

    /// The message has no id; JSON may hold one all the same.
    fn row_with_id(&mut self) {
        if self.connection.codec != Codec::Json {
            return;
        }
        let (name, path) = ("a new row with an id", "/petclinic/api/pettypes");
        let body = br#"{"id":"x","name":"x"}"#;
        self.refuses(name, Operation::AddPetType, path, body, true);
        let body = br#"{"id":7,"name":"x"}"#;
        let refused = self.refuses(name, Operation::AddPetType, path, body, true);
        if let Some(refusal) = refused
            && refusal.text != ApplicationError::Invalid.to_string()
        {
            let expected = ApplicationError::Invalid.to_string();
            self.add_finding(name, path, expected, format!("{refusal:?}"));
        }
    }

    /// A service that breaks on a bad request must still serve the next caller.
    fn still_serves(&mut self) {
        self.calls += 1;
        let call = Call::ListVets(ListVetsRequest {});
        let response = self.connection.call(&call);
        if !matches!(response, Response::Reply(_)) {
            let name = "a good call after bad requests";
            let found = format!("{response:?}");
            self.add_finding(name, &format!("{call:?}"), "a reply".to_owned(), found);
        }
    }

    /// Expects status 400, with the field `errors` where the body is at fault.
    fn refuses(
        &mut self,
        name: &str,
        operation: Operation,
        path: &str,
        body: &[u8],
        errors: bool,
    ) -> Option<Refusal> {
        self.calls += 1;
        let refused = self.connection.refusal(operation, path, body);
        let right = |refusal: &Refusal| (refusal.status, refusal.errors) == (400, errors);
        if refused.as_ref().is_ok_and(right) {
            return refused.ok();
        }
        let call = format!("{operation}, {path}, {}", String::from_utf8_lossy(body));
        let field = match errors {
            true => "with",
            false => "without",
        };
        let expected = format!("status 400 {field} the field errors, and an error's body");
        self.add_finding(name, &call, expected, format!("{refused:?}"));
        None
    }

    fn add_finding(&mut self, name: &str, call: &str, expected: String, found: String) {
        self.findings.push(Finding {
            name: name.to_owned(),
            call: call.to_owned(),
            expected,
            found,
        });
    }
}

/// A template with `text` for its last parameter and 1 for those before.
fn fill(template: &str, text: &str) -> String {
    let parts: Vec<&str> = template.split('/').collect();
    let last = parts.iter().rposition(|part| part.starts_with('{'));
    let filled = parts.iter().enumerate().map(|(k, part)| match part {
        part if !part.starts_with('{') => part,
        _ if Some(k) == last => text,
        _ => "1",
    });
    filled.collect::<Vec<_>>().join("/")
}
