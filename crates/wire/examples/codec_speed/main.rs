//! What encoding and decoding a request costs, per codec, compared with the
//! best-known library of the same format. `make bench` runs it:
//!
//! ```text
//! cargo run --release -p wirelab-wire --example codec_speed
//! ```
//!
//! One JSON line on standard output: nanoseconds of this thread's CPU. All codecs
//! of a message, and the peers of each, take turns, round by round, so that
//! whatever else the machine does meets all alike. Encoding goes to a buffer that is kept, decoding makes the typed message. SOAP and
//! token-xml have no peer: we know of no Rust library that reads and writes them.

mod cpu;
mod ours;
mod peers;
mod plain;
mod rounds;

use std::env;

use serde_json::{Value, json};
use wirelab_contract::charging::CreditControlRequest;
use wirelab_contract::workload::submit_request;
use wirelab_contract::{Call, Operation};
use wirelab_wire::codec::Codec;

use rounds::{Race, RoundTrip};

/// Sizes of the Submit requests: bytes of their protobuf encoding.
const SUBMIT_BYTES: [(u64, &str); 3] = [
    (200, "Submit 200 B"),
    (150_000, "Submit 150 kB"),
    (1_000_000, "Submit 1 MB"),
];

/// Rounds of a run whose figures are read.
const ROUNDS: usize = 45;

/// Token-xml a second time: not the first message of its connection.
const KEPT: &str = "token-xml, connection kept";

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let rounds = match args[..] {
        [] => ROUNDS,
        ["--quick"] => 1,
        // For a profiler: one codec, without the others in its samples.
        ["--trips", count, codec] => return trips(count.parse().expect("a number"), codec),
        _ => panic!("{args:?}: the options are --quick and --trips N CODEC"),
    };
    let cases: Vec<Value> = calls()
        .iter()
        .flat_map(|(name, call)| race(name, call, rounds))
        .collect();
    println!("{}", json!({"rounds": rounds, "cases": cases}));
}

/// One codec at one message.
struct Case {
    codec: &'static str,
    message: &'static str,
    peer: Option<&'static str>,
    race: Race,
}

impl Case {
    fn new(
        codec: &'static str,
        message: &'static str,
        ours: RoundTrip,
        peer: Option<(&'static str, RoundTrip)>,
    ) -> Case {
        let (name, trip) = peer.map_or((None, None), |(name, trip)| (Some(name), Some(trip)));
        Case {
            codec,
            message,
            peer: name,
            race: Race::new(ours, trip),
        }
    }

    /// Nanoseconds per encode and decode of every round, ours and the peer's.
    fn into_json(mut self) -> Value {
        let bytes = self.race.bytes();
        let (ours_ns, peer_ns) = self.race.figures();
        json!({
            "codec": self.codec,
            "message": self.message,
            "bytes": bytes,
            "ours_ns": ours_ns,
            "peer": self.peer,
            "peer_ns": peer_ns,
        })
    }
}

/// Every codec at one message, in turns.
fn race(message: &'static str, call: &Call, rounds: usize) -> Vec<Value> {
    // Text carries Hello only.
    let codecs = Codec::ALL
        .iter()
        .copied()
        .filter(|&codec| codec != Codec::Text);
    let mut cases: Vec<Case> = codecs
        .map(|codec| {
            let (ours, peer) = (ours::single(codec, call), peers::of(codec, call));
            Case::new(codec.name(), message, ours, peer)
        })
        .collect();
    // A codec with a cache has two costs: of the first message and of all others.
    let kept = ours::on_a_connection(call);
    cases.push(Case::new(KEPT, message, kept, None));
    for round in 0..rounds {
        cases.iter_mut().for_each(|case| case.race.round(round));
    }
    cases.into_iter().map(Case::into_json).collect()
}

/// Round trips of the smallest Submit in a codec, and nothing else.
fn trips(count: usize, codec: &str) {
    let (_, call) = parse_size(SUBMIT_BYTES[0]);
    let mut trip = match codec {
        KEPT => ours::on_a_connection(&call),
        name => ours::single(name.parse().expect("a codec"), &call),
    };
    for _ in 0..count {
        trip();
    }
}

/// What is encoded and decoded, by its name.
fn calls() -> Vec<(&'static str, Call)> {
    let small = Call::CreditControl(CreditControlRequest { id: 438 });
    let small = (Operation::CreditControl.name(), small);
    SUBMIT_BYTES
        .into_iter()
        .map(parse_size)
        .chain([small])
        .collect()
}

fn parse_size((bytes, name): (u64, &'static str)) -> (&'static str, Call) {
    let request = submit_request(bytes, 0).expect("a size within the contract's bounds");
    (name, Call::Submit(request))
}
