//! The golden vectors: one value in many forms, and bytes that are not a message.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wirelab_contract::{Call, Contract, Operation, Reply, State, Store};
use wirelab_stack::{Binding, Codec, CodecFamily};
use wirelab_verify::{Exam, Finding, Response, Section, Subject as _};
use wirelab_wire::codec::transcode;

use super::connection::{Connection, Service};

const VECTORS: &str = include_str!("../../../../contracts/vectors/messages.json");
const ENCODINGS: &str = include_str!("../../../../contracts/vectors/encodings.json");

/// Characters of a message that a finding shows.
const EXCERPT: usize = 120;

/// The requests of `contracts/vectors/messages.json`.
#[derive(Deserialize)]
struct Vectors {
    accepted: Vec<Accepted>,
}

#[derive(Deserialize)]
struct Accepted {
    message: String,
    name: String,
    json: String,
    #[serde(default)]
    json_variants: Vec<String>,
    #[serde(default)]
    protobuf_variants: Vec<String>,
    #[serde(default)]
    xml_variants: Vec<String>,
}

#[derive(Deserialize)]
struct Refused {
    message: String,
    why: String,
    input: String,
}

/// Sends every vector that is a request of the contract in the stack's codec.
pub(crate) fn exam(contract: Contract, service: &Service) -> Result<Exam, String> {
    let vectors: Vectors = read(VECTORS)?;
    let mut sender = Sender {
        connection: service.connection()?,
        calls: 0,
        findings: Vec::new(),
    };
    for vector in &vectors.accepted {
        if let Some(operation) = sender.operation(contract, &vector.message) {
            sender.check_accepted(operation, vector)?;
        }
    }
    for refused in sender.read_refused()? {
        if let Some(operation) = sender.operation(contract, &refused.message) {
            sender.refuses(operation, &refused)?;
        }
    }
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
    /// The operation whose request that message is, where it goes out as a
    /// body and its answer does not depend on what was called before.
    fn operation(&self, contract: Contract, message: &str) -> Option<Operation> {
        let operation = Operation::of(contract, message.strip_suffix("Request")?).ok()?;
        let is_body = match self.connection.binding {
            Binding::Rest => operation.rest().is_some_and(|(method, _)| method == "POST"),
            _ => true,
        };
        // Pure operations only: the answer is the same whatever was called before.
        (is_body && operation.pure() && !operation.streaming()).then_some(operation)
    }

    fn check_accepted(&mut self, operation: Operation, vector: &Accepted) -> Result<(), String> {
        // The answer of the model to the same request.
        let state = State::new(&Store::default());
        let expected = operation.answer_object(&state, read(&vector.json)?);
        let Some(Ok(expected)) = expected else {
            return Err(format!("the vector {:?} cannot be read", vector.name));
        };
        for message in self.variants(vector)? {
            self.calls += 1;
            let observed = self.connection.send(operation, &message);
            let right = match (&expected, &observed) {
                (Ok(reply), Response::Reply(found)) => reply == found,
                (Err(error), Response::Error(text)) => error.to_string() == *text,
                _ => false,
            };
            if !right {
                self.add_finding(&vector.name, &message, &format!("{expected:?}"), &observed);
            }
        }
        Ok(())
    }

    fn variants(&self, vector: &Accepted) -> Result<Vec<Vec<u8>>, String> {
        let texts = |texts: &[String]| texts.iter().map(|text| text.clone().into_bytes()).collect();
        match self.connection.codec {
            Codec::Json => Ok(texts(&vector.json_variants)),
            Codec::Xml => Ok(texts(&vector.xml_variants)),
            // The variants of JSON as they are: other orders, absent and unknown fields. Base64
            // would not be bytes.
            codec if codec.is_self_describing() && vector.message != "UploadRequest" => {
                let value = |json: &String| {
                    let value = serde_json::from_str(json).map_err(|error| error.to_string());
                    value.map(|value| transcode(codec, &value))
                };
                vector.json_variants.iter().map(value).collect()
            }
            Codec::Protobuf => vector
                .protobuf_variants
                .iter()
                .map(|hex| bytes(hex))
                .collect(),
            _ => Ok(Vec::new()),
        }
    }

    /// Inputs that are not a message of the codec, from the document that lists them: that of the
    /// messages for their source formats, JSON and protobuf, that of the encodings for the other
    /// formats that serde writes.
    fn read_refused(&self) -> Result<Vec<Refused>, String> {
        let codec = self.connection.codec;
        let derived = codec.family() == CodecFamily::Serde && codec != Codec::Json;
        let document = if derived { ENCODINGS } else { VECTORS };
        let lists: HashMap<String, Value> = read(document)?;
        let list = lists.get(&format!("refused_{codec}"));
        let refused = list.map_or(Ok(Vec::new()), Vec::<Refused>::deserialize);
        refused.map_err(|error| error.to_string())
    }

    /// No reply may come, and the next good call must be answered.
    fn refuses(&mut self, operation: Operation, refused: &Refused) -> Result<(), String> {
        let message = match self.connection.codec {
            Codec::Json | Codec::Xml => refused.input.clone().into_bytes(),
            // Hexadecimal, since these formats are binary.
            _ => bytes(&refused.input)?,
        };
        // The refused one and the good one after it.
        self.calls += 2;
        let observed = self.connection.send(operation, &message);
        if let Response::Reply(_) | Response::Chunks(_) = observed {
            self.add_finding(&refused.why, &message, "a refusal", &observed);
        }
        // A service that breaks on a bad message must still serve the next caller.
        let Some((good, expected)) = good_call(operation) else {
            return Ok(());
        };
        let after = self.connection.call(&good);
        if after != Response::Reply(expected) {
            let name = format!("a good call after {}", refused.why);
            self.add_finding(&name, &message, "a reply", &after);
        }
        Ok(())
    }

    fn add_finding(&mut self, name: &str, message: &[u8], expected: &str, observed: &Response) {
        self.findings.push(Finding {
            name: name.to_owned(),
            call: excerpt(&String::from_utf8_lossy(message)),
            expected: excerpt(expected),
            found: excerpt(&format!("{observed:?}")),
        });
    }
}

/// A small call of the operation, and its answer.
fn good_call(operation: Operation) -> Option<(Call, Reply)> {
    let call = wirelab_contract::workload::call(operation, 200, 64, 1).ok()?;
    let answer = call.answer().ok()?;
    Some((call, answer))
}

fn read<T: DeserializeOwned>(document: &str) -> Result<T, String> {
    serde_json::from_str(document).map_err(|error| error.to_string())
}

fn bytes(hex: &str) -> Result<Vec<u8>, String> {
    let digits = hex.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    };
    let bytes: Option<Vec<u8>> = digits.map(byte).collect();
    bytes.ok_or_else(|| format!("{hex:?} is not hexadecimal text"))
}

fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        // By characters: a cut within one of UTF-8 would panic.
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
