//! What decoding a reply costs the engine, for documents that services wrote.
//! `make bench` runs it with the replies of real services:
//!
//! ```text
//! cargo run --release -p wirelab-wire --example reply_decoding -- \
//!     [--quick] OPERATION CODEC=FILE...
//! ```
//!
//! One JSON line on standard output: nanoseconds of this thread's CPU per decoded
//! reply, one figure a round, in which all files take turns. An error ends it.

#[path = "codec_speed/cpu.rs"]
mod cpu;
#[path = "codec_speed/rounds.rs"]
mod rounds;

use std::hint::black_box;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use wirelab_contract::{Operation, Unary, UnaryVisitor};
use wirelab_wire::codec::{Codec, MessageFormat};

use rounds::{Race, RoundTrip};

/// Rounds of a run whose figures are read.
const ROUNDS: usize = 45;

fn main() -> Result<()> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let quick = args.first().is_some_and(|first| first == "--quick");
    let rounds = if quick { 1 } else { ROUNDS };
    args.drain(..usize::from(quick));
    let [operation, files @ ..] = &args[..] else {
        bail!("give OPERATION CODEC=FILE...");
    };
    let mut operations = Operation::ALL.into_iter();
    let operation = operations
        .find(|known| known.name() == operation)
        .with_context(|| format!("no contract has an operation {operation}"))?;
    let mut cases = files
        .iter()
        .map(|file| Case::new(operation, file))
        .collect::<Result<Vec<_>>>()?;
    for round in 0..rounds {
        cases.iter_mut().for_each(|case| case.race.round(round));
    }
    let cases: Vec<Value> = cases.into_iter().map(Case::figures).collect();
    println!("{}", json!({"rounds": rounds, "cases": cases}));
    Ok(())
}

/// A reply in a file.
struct Case {
    codec: Codec,
    file: String,
    race: Race,
}

impl Case {
    fn new(operation: Operation, argument: &str) -> Result<Self> {
        let (codec, file) = argument.split_once('=').context("give CODEC=FILE")?;
        let codec: Codec = codec.parse().ok().context("no such codec")?;
        let document = std::fs::read(file).with_context(|| format!("cannot read {file}"))?;
        let decode = operation.visit_unary(Decode { codec, document });
        Ok(Case {
            codec,
            file: file.to_owned(),
            race: Race::new(decode.context("a stream has no one reply")??, None),
        })
    }

    fn figures(mut self) -> Value {
        let bytes = self.race.bytes();
        let (ns, _) = self.race.figures();
        json!({"codec": self.codec.name(), "file": self.file, "bytes": bytes, "ns": ns})
    }
}

struct Decode {
    codec: Codec,
    document: Vec<u8>,
}

impl UnaryVisitor for Decode {
    type Output = Result<RoundTrip>;

    fn visit<O: Unary>(self) -> Result<RoundTrip> {
        let form = MessageFormat::from(self.codec);
        let document = self.document;
        // Once before the measurement: an error path would be measured as a fast reader.
        if let Err(mismatch) = form.read_reply::<O>(&document) {
            bail!("not the reply of {}: {mismatch}", O::OPERATION);
        }
        Ok(Box::new(move || {
            let read = form.read_reply::<O>(black_box(&document));
            drop(black_box(read));
            document.len()
        }))
    }
}
