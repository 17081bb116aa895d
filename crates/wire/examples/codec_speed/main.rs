//! What encoding and decoding a request costs, per codec, beside the
//! best-known library of the same format. `make bench` runs it:
//!
//! ```text
//! cargo run --release -p wirelab-wire --example codec_speed
//! ```
//!
//! One JSON line on standard output: nanoseconds of this thread's CPU. Ours and
//! the peer take turns, round by round, so that whatever else the machine does
//! meets both alike. Encoding
//! goes to a buffer that is kept, decoding makes the typed message. SOAP and
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

use rounds::{RoundTrip, measured};

/// Sizes of the Submit requests: bytes of their protobuf encoding.
const SUBMIT_BYTES: [(u64, &str); 3] = [
    (200, "Submit 200 B"),
    (150_000, "Submit 150 kB"),
    (1_000_000, "Submit 1 MB"),
];

/// Rounds of a run whose figures are read.
const ROUNDS: usize = 15;

/// Token-xml beside itself: not the first message of its connection.
const KEPT: &str = "token-xml, connection kept";

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let rounds = match args[..] {
        [] => ROUNDS,
        ["--quick"] => 1,
        ["--trips", count, codec] => return trips(count.parse().expect("a number"), codec),
        _ => panic!("{args:?}: the options are --quick and --trips N CODEC"),
    };
    let mut cases = Vec::new();
    for (name, call) in calls() {
        // Text carries Hello only.
        for codec in Codec::ALL.into_iter().filter(|&codec| codec != Codec::Text) {
            let peer = peers::of(codec, &call);
            cases.push(case(
                codec.name(),
                name,
                ours::single(codec, &call),
                peer,
                rounds,
            ));
        }
        let kept = ours::on_a_connection(&call);
        cases.push(case(KEPT, name, kept, None, rounds));
    }
    println!("{}", json!({"rounds": rounds, "cases": cases}));
}

/// Round trips of the smallest Submit in a codec, and nothing else.
fn trips(count: usize, codec: &str) {
    let (_, call) = sized(SUBMIT_BYTES[0]);
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
    SUBMIT_BYTES.into_iter().map(sized).chain([small]).collect()
}

fn sized((bytes, name): (u64, &'static str)) -> (&'static str, Call) {
    let request = submit_request(bytes, 0).expect("a size within the contract's bounds");
    (name, Call::Submit(request))
}

/// One row: nanoseconds per encode and decode of every round, ours and the peer's.
fn case(
    codec: &str,
    message: &str,
    mut ours: RoundTrip,
    peer: Option<(&str, RoundTrip)>,
    rounds: usize,
) -> Value {
    let (name, mut other) = peer.map_or((None, None), |(name, trip)| (Some(name), Some(trip)));
    let (ours_ns, peer_ns) = measured(&mut ours, other.as_mut(), rounds);
    json!({
        "codec": codec,
        "message": message,
        "bytes": ours(),
        "ours_ns": ours_ns,
        "peer": name,
        "peer_ns": peer_ns,
    })
}
