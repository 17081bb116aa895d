//! What reading a request costs the services that speak XML, and a short program on
//! quick-xml's serde support over the same documents. `make bench` runs it:
//!
//! ```text
//! cargo run --release -p wirelab-services --example xml_decoding
//! ```
//!
//! One JSON line on standard output: nanoseconds of this thread's CPU, one figure a
//! round, in which service and program take turns.

#[path = "../../../../crates/wire/examples/codec_speed/cpu.rs"]
mod cpu;
mod plain;
#[path = "../../../../crates/wire/examples/codec_speed/rounds.rs"]
mod rounds;

use std::hint::black_box;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use wirelab_contract::Operation;
use wirelab_contract::transfer::SubmitRequest;
use wirelab_contract::workload::submit_request;
use wirelab_services::bodies;

use rounds::{Race, RoundTrip};

/// Sizes of the Submit requests: bytes of their protobuf encoding.
const SUBMIT_BYTES: [(u64, &str); 2] = [(200, "Submit 200 B"), (150_000, "Submit 150 kB")];

/// Rounds of a run whose figures are read.
const ROUNDS: usize = 45;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rounds = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => ROUNDS,
        ["--quick"] => 1,
        _ => panic!("{args:?}: the only option is --quick"),
    };
    let cases: Vec<Value> = SUBMIT_BYTES
        .into_iter()
        .flat_map(|(bytes, message)| compare(bytes, message, rounds))
        .collect();
    println!("{}", json!({"rounds": rounds, "cases": cases}));
}

/// Service and program at one message, as XML and as a SOAP envelope.
fn compare(bytes: u64, message: &'static str, rounds: usize) -> [Value; 2] {
    let request = submit_request(bytes, 0).expect("a size within the contract's bounds");
    let xml = bodies::write_xml(&request);
    let soap = bodies::write_soap(Operation::Submit, request);
    let mut races = [
        Race::new(
            service_xml(xml.clone()),
            Some(program::<plain::SubmitRequest>(xml)),
        ),
        Race::new(
            service_soap(soap.clone()),
            Some(program::<plain::Envelope>(soap)),
        ),
    ];
    // Service and program alternate, so that a machine that grows slower slows both.
    for round in 0..rounds {
        races.iter_mut().for_each(|race| race.round(round));
    }
    let [xml, soap] = races;
    [("xml", xml), ("soap-literal", soap)].map(|(codec, mut race)| {
        let bytes = race.bytes();
        let (service_ns, program_ns) = race.figures();
        json!({
            "codec": codec,
            "message": message,
            "bytes": bytes,
            "service_ns": service_ns,
            "program_ns": program_ns,
        })
    })
}

fn service_xml(document: Vec<u8>) -> RoundTrip {
    Box::new(move || {
        // black_box keeps the compiler from reading the constant document once for all
        // rounds.
        let read = bodies::read_xml::<SubmitRequest>(black_box(&document));
        black_box(read.expect("the service's own document"));
        document.len()
    })
}

fn service_soap(document: Vec<u8>) -> RoundTrip {
    Box::new(move || {
        let read = bodies::read_soap::<SubmitRequest>(Operation::Submit, black_box(&document));
        black_box(read.expect("the service's own document"));
        document.len()
    })
}

fn program<T: DeserializeOwned>(document: Vec<u8>) -> RoundTrip {
    Box::new(move || {
        let text = std::str::from_utf8(black_box(&document)).expect("XML in UTF-8");
        black_box(quick_xml::de::from_str::<T>(text).expect("XML of that message"));
        document.len()
    })
}
