//! Replies compared with what a plan expects of a service that is not of the lab.

mod json;
mod message;

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use prost_reflect::MethodDescriptor;
use serde_json::Value;
use sha2::{Digest, Sha256};
use wirelab_wire::Encoding;

use crate::call::error::ErrorKind;
use crate::call::fault;
use crate::call::reply::{ReplyState, Seen};
use crate::call::result::Fault;
use crate::plan::Expect;
use crate::validate::json_library::{Schema, Violation, library};
use json::JsonPattern;
use message::MessagePattern;
pub(super) use message::as_json;
pub(crate) use message::{encoded, method};

/// Fields that a plan may expect: as many as the bits that say which have come.
const HEADERS_MAX: usize = 64;

/// Bytes of a body that is not kept, for the text of an error.
const EXCERPT_BYTES: usize = 256;

/// Longer right replies are checked every time.
const REPEATED_BYTES_MAX: usize = 64 << 10;

/// Letters of a validator's text, which shows values that may be long.
const REASON_LETTERS_MAX: usize = 300;

/// What the plan expects of a reply, ready to be compared.
#[derive(Debug)]
pub(crate) struct Declared {
    headers: Vec<(Box<str>, Box<str>)>,
    bytes: RangeInclusive<u64>,
    sha256: Option<[u8; 32]>,
    json: Option<JsonPattern>,
    schema: Option<Box<dyn Schema>>,
    message: Option<MessagePattern>,
    pub(super) grpc_status: u32,
    /// The first right body: another one of the same bytes is as right.
    right: OnceLock<Box<[u8]>>,
}

impl Declared {
    /// # Errors
    /// When it contradicts itself, or the reply's type. `method` describes a gRPC reply.
    pub(crate) fn of(
        expect: &Expect,
        method: Option<&MethodDescriptor>,
    ) -> Result<Declared, Fault> {
        if expect.headers.len() > HEADERS_MAX {
            return refuse(
                format!("expect.headers: {} of them", expect.headers.len()),
                format!("expect at most {HEADERS_MAX}"),
            );
        }
        let mut names: Vec<String> = expect.headers.keys().map(|n| n.to_lowercase()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|two| two[0] == two[1]) {
            return refuse(
                format!("expect.headers: {} is there twice", twice[0]),
                "names of fields are the same in upper and lower case: leave one out",
            );
        }
        let headers = expect.headers.iter();
        let range = expect.bytes.clone().unwrap_or_default();
        let bytes = range.min.unwrap_or(0)..=range.max.unwrap_or(u64::MAX);
        if bytes.is_empty() {
            return refuse(
                "expect.bytes: min is more than max",
                "exchange the two numbers",
            );
        }
        let message = expect.message.as_ref().map(|message| match method {
            Some(method) => MessagePattern::of(&method.output(), message),
            None => refuse(
                "expect.message needs the description of the method",
                "name its .proto file as proto",
            ),
        });
        Ok(Declared {
            headers: headers
                .map(|(name, value)| (name.to_ascii_lowercase().into(), value.as_str().into()))
                .collect(),
            bytes,
            sha256: expect.sha256.as_deref().map(digest).transpose()?,
            json: expect.json.as_ref().map(JsonPattern::of),
            schema: expect.json_schema.as_ref().map(schema).transpose()?,
            message: message.transpose()?,
            grpc_status: expect.grpc_status.unwrap_or(0),
            right: OnceLock::new(),
        })
    }

    /// Names of the fields that must be seen.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().map(|(name, _)| &**name)
    }

    /// Whether the body has to be whole in memory to be judged.
    pub(super) fn needs_whole(&self, encoding: Encoding) -> bool {
        let is_parsed = self.json.is_some() || self.schema.is_some() || self.message.is_some();
        is_parsed || (encoding != Encoding::Identity && self.reads_body())
    }

    /// Whether it expects anything of the body.
    pub(super) fn reads_body(&self) -> bool {
        self.is_sized()
            || self.sha256.is_some()
            || self.json.is_some()
            || self.schema.is_some()
            || self.message.is_some()
    }

    fn is_sized(&self) -> bool {
        self.bytes != (0..=u64::MAX)
    }

    /// A field of a watched name has come.
    #[cold]
    pub(super) fn field(&self, seen: &mut Seen, name: &str, value: &[u8]) {
        let of_name = self.headers.iter().position(|(own, _)| &**own == name);
        let Some(at) = of_name else { return };
        if self.headers[at].1.as_bytes() == value {
            seen.headers |= 1 << at;
        } else {
            let shown = String::from_utf8_lossy(value).into_owned();
            seen.other.get_or_insert((at, shown));
        }
    }

    /// All expected fields have come.
    ///
    /// # Errors
    /// Which did not.
    pub(super) fn check_headers(&self, seen: Option<&Seen>) -> Result<(), String> {
        let come = seen.map_or(0, |seen| seen.headers);
        let missing = (0..self.headers.len()).find(|at| come & 1 << at == 0);
        let Some(at) = missing else { return Ok(()) };
        let (name, expected) = &self.headers[at];
        match seen.and_then(|seen| seen.other.as_ref()) {
            Some((other, found)) if *other == at => Err(format!(
                "header {name}: expected {expected:?}, found {found:?}"
            )),
            _ => Err(format!(
                "header {name}: expected {expected:?}, there is none"
            )),
        }
    }

    /// The next bytes of a body that need not be whole.
    pub(super) fn stream(&self, state: &mut ReplyState, chunk: &[u8]) {
        if !self.reads_body() {
            return;
        }
        let room = EXCERPT_BYTES.saturating_sub(state.kept.len());
        state
            .kept
            .extend_from_slice(&chunk[..chunk.len().min(room)]);
        if self.sha256.is_some() {
            state.seen.get_or_insert_default().digest.update(chunk);
        }
    }

    /// Whether the body is longer than it may be, which is an error then: a reply without an
    /// end is one before its time is up.
    pub(super) fn is_beyond(&self, state: &mut ReplyState) -> bool {
        let is_plain = state.head.encoding == Encoding::Identity;
        let is_beyond = is_plain && state.length > *self.bytes.end();
        if is_beyond {
            state.fail(ErrorKind::Wrong, self.size_reason(state.length, "or more "));
        }
        is_beyond
    }

    /// The body that came by [`Declared::stream`] is at its end.
    ///
    /// # Errors
    /// Why it is not right.
    pub(super) fn check_streamed(&self, state: &ReplyState) -> Result<(), String> {
        self.check_size(state.length)?;
        let Some(expected) = &self.sha256 else {
            return Ok(());
        };
        let digest = state.seen.as_ref().map(|seen| seen.digest.clone());
        check_digest(expected, digest.unwrap_or_default())
    }

    /// A whole body, or a message of gRPC.
    ///
    /// # Errors
    /// Why it is not right: the first reason in the order size, hash, content, schema.
    pub(super) fn check(&self, body: &[u8]) -> Result<(), String> {
        if self.right.get().is_some_and(|right| **right == *body) {
            return Ok(());
        }
        self.check_size(body.len() as u64)?;
        if let Some(expected) = &self.sha256 {
            check_digest(expected, Sha256::new_with_prefix(body))?;
        }
        if let Some(pattern) = &self.json {
            pattern.check(body)?;
        }
        if let Some(schema) = &self.schema {
            check_schema(&**schema, body)?;
        }
        if let Some(message) = &self.message {
            message.check(body)?;
        }
        if body.len() <= REPEATED_BYTES_MAX {
            // Only the first is kept, without a lock; the others are as right.
            let _ = self.right.set(body.into());
        }
        Ok(())
    }

    /// The body as its error's text shows it.
    pub(super) fn show(&self, body: &[u8]) -> Option<String> {
        self.message.as_ref()?.show(body)
    }

    fn check_size(&self, bytes: u64) -> Result<(), String> {
        match self.bytes.contains(&bytes) {
            true => Ok(()),
            false => Err(self.size_reason(bytes, "")),
        }
    }

    fn size_reason(&self, bytes: u64, qualifier: &str) -> String {
        let (min, max) = (self.bytes.start(), self.bytes.end());
        let expected = match (*min, *max) {
            (min, max) if min == max => format!("{min}"),
            (0, max) => format!("at most {max}"),
            (min, u64::MAX) => format!("at least {min}"),
            (min, max) => format!("{min} to {max}"),
        };
        format!("{bytes} bytes {qualifier}instead of {expected}")
    }
}

fn refuse<T>(message: impl Into<String>, remedy: impl Into<String>) -> Result<T, Fault> {
    Err(fault::plan(message, remedy))
}

fn digest(hex: &str) -> Result<[u8; 32], Fault> {
    let digits = hex.as_bytes().as_chunks::<2>().0.iter();
    let bytes = digits.map(|pair| {
        let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
        Some(digit(pair[0])? << 4 | digit(pair[1])?)
    });
    let bytes: Option<Vec<u8>> = bytes.collect();
    let whole = bytes.filter(|_| hex.len() == 64);
    whole
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| {
            fault::plan(
                format!("expect.sha256: {hex:?} is not a SHA-256"),
                "write its 64 hexadecimal digits, as sha256sum prints them",
            )
        })
}

fn check_digest(expected: &[u8; 32], digest: Sha256) -> Result<(), String> {
    let found = digest.finalize();
    match found[..] == expected[..] {
        true => Ok(()),
        false => {
            let hex: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
            Err(format!(
                "SHA-256 of the body is {hex}, not the expected one"
            ))
        }
    }
}

fn schema(schema: &Value) -> Result<Box<dyn Schema>, Fault> {
    let library = library("expect.json_schema")?;
    (library.compile_schema)(schema).map_err(|reason| {
        fault::plan(
            format!("expect.json_schema: {}", cut(reason)),
            "correct the schema; documents that it names elsewhere are not fetched",
        )
    })
}

fn check_schema(schema: &dyn Schema, body: &[u8]) -> Result<(), String> {
    let value: Value =
        serde_json::from_slice(body).map_err(|error| format!("the body is not JSON: {error}"))?;
    schema.check(&value).map_err(|Violation { place, reason }| {
        let place = if place.is_empty() { "/" } else { &place };
        format!("JSON Schema: {place}: {}", cut(reason))
    })
}

fn cut(text: String) -> String {
    match text.char_indices().nth(REASON_LETTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
