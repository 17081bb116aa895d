//! Times of a reply's codec alone, without a store and a connection.

use std::collections::HashMap;
use std::fmt;
use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wirelab_contract::{Message, Operation};
use wirelab_stack::Codec;

use super::Representation as _;

/// Shorter batches grow: next to them the clock's own time, some 40 ns, does not count.
const BATCH_NS_MIN: u64 = 5_000_000;

const RUNS_MAX: u64 = 1 << 20;

/// How long the last reply of an operation takes to encode and to decode: the answer to
/// `GET /codec-times?operation=NAME&seconds=S` on the metrics address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CodecTimes {
    /// The operation.
    pub operation: String,
    /// Bytes of the reply's body, not compressed.
    pub bytes: u64,
    /// SHA-256 of that body, in hexadecimal digits.
    pub sha256: String,
    /// From what the service's own code returned to the body, by the code that answers calls.
    pub encode: Vec<Batch>,
    /// From the body to a message, by the same library. Batches of both took turns.
    pub decode: Vec<Batch>,
}

/// Runs one after another. The first batch has one; while batches are shorter than 5 ms each
/// has twice as many runs as the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Batch {
    /// How many.
    pub runs: u64,
    /// How long they took, in nanoseconds.
    pub ns: u64,
}

/// A reply that a call was answered with, and how it becomes a body.
pub(crate) struct CodedReply<M> {
    pub(crate) codec: Codec,
    pub(crate) message: M,
    /// Makes the body of the codec's bytes.
    pub(crate) body: fn(Vec<u8>) -> Bytes,
}

impl<M: Message> CodedReply<M> {
    /// The body.
    pub(crate) fn encode(&self) -> Bytes {
        (self.body)(self.codec.write(&self.message))
    }
}

/// Any reply.
trait Coded: Send + Sync {
    fn times(&self, operation: &str, lasts: Duration) -> Result<CodecTimes, String>;
}

impl<M: Message> Coded for CodedReply<M> {
    /// A list is decoded with its name around it, as the codec's messages have it.
    fn times(&self, operation: &str, lasts: Duration) -> Result<CodecTimes, String> {
        let body = self.encode();
        let object = self.codec.write(&self.message);
        let digest = Sha256::digest(&body);
        let mut times = CodecTimes {
            operation: operation.to_owned(),
            bytes: body.len() as u64,
            sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            encode: Vec::new(),
            decode: Vec::new(),
        };
        let start = Instant::now();
        loop {
            add_batch(&mut times.encode, || {
                black_box(black_box(self).encode());
                Ok(())
            })?;
            add_batch(&mut times.decode, || {
                black_box(self.codec.read::<M>(black_box(&object))?);
                Ok(())
            })?;
            if start.elapsed() >= lasts {
                return Ok(times);
            }
        }
    }
}

fn add_batch(
    into: &mut Vec<Batch>,
    mut run: impl FnMut() -> Result<(), String>,
) -> Result<(), String> {
    let runs = match into.last() {
        None => 1,
        Some(last) if last.ns < BATCH_NS_MIN && last.runs < RUNS_MAX => last.runs * 2,
        Some(last) => last.runs,
    };
    let start = Instant::now();
    for _ in 0..runs {
        run()?;
    }
    let ns = start.elapsed().as_nanos() as u64;
    into.push(Batch { runs, ns });
    Ok(())
}

/// The last reply of each operation.
#[derive(Default)]
pub(crate) struct Replies(Mutex<HashMap<&'static str, Arc<dyn Coded>>>);

impl Replies {
    pub(crate) fn keep<M: Message>(&self, operation: Operation, reply: CodedReply<M>) {
        let before = self.lock().insert(operation.name(), Arc::new(reply));
        // Not under the lock: it may be large.
        drop(before);
    }

    pub(crate) fn has(&self, operation: Operation) -> bool {
        self.lock().contains_key(operation.name())
    }

    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    /// Times of the last reply of the operation of that name, if there is one.
    pub(crate) fn times(
        &self,
        operation: &str,
        lasts: Duration,
    ) -> Option<Result<CodecTimes, String>> {
        // Not under the lock: a call may end meanwhile.
        let reply = self.lock().get(operation).cloned()?;
        Some(reply.times(operation, lasts))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<&'static str, Arc<dyn Coded>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Replies {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_tuple("Replies").field(&self.lock().len()).finish()
    }
}
