//! `dissect` compared with Wireshark on captures of our own services.
//!
//! Needs root, `dumpcap` and `tshark`; prints so and passes without.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::service::Service;
use crate::support::{group, plan, report_skip};

/// Calls of each trial.
const CALLS: u64 = 30;

/// Captures of a trial until one has dropped nothing. dumpcap's ring takes everything that the
/// interface carries until its filter is set, and counts what did not fit in: a few hundred
/// megabytes per second of other programs suffice.
const TAPS: usize = 5;

/// A capture of one port of the loopback interface; ends with this.
struct Tap {
    dumpcap: Child,
    file: PathBuf,
}

impl Tap {
    /// None where this machine cannot capture.
    fn begin(name: &str, port: &str) -> Option<Tap> {
        // SAFETY: geteuid takes nothing and cannot fail.
        let is_root = unsafe { libc::geteuid() } == 0;
        let is_there = |tool| Command::new(tool).arg("--version").output().is_ok();
        if !is_root || !is_there("dumpcap") || !is_there("tshark") {
            report_skip("needs root, dumpcap and tshark (apt-get install wireshark-common tshark)");
            return None;
        }
        let file = format!("wirelab-dissect-{}-{name}.pcapng", std::process::id());
        let file = std::env::temp_dir().join(file);
        let dumpcap = Command::new("dumpcap")
            .args(["-q", "-i", "lo", "-B", "32", "-f"])
            .arg(format!("tcp port {port}"))
            .arg("-w")
            .arg(&file)
            .stderr(Stdio::null())
            .spawn()
            .expect("dumpcap starts");
        let tap = Tap { dumpcap, file };
        tap.wait_for(port);
        Some(tap)
    }

    /// A capture has begun when a connection shows in it.
    fn wait_for(&self, port: &str) {
        self.wait_until(|| {
            let address = format!("127.0.0.1:{port}");
            drop(std::net::TcpStream::connect(address));
            fs::metadata(&self.file).is_ok_and(|file| file.len() > 1_000)
        });
    }

    fn wait_until(&self, condition: impl Fn() -> bool) {
        let begun = Instant::now();
        while !condition() {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "nothing is captured"
            );
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Ends it when nothing more is written.
    fn end(&mut self) {
        let mut size = 0;
        loop {
            thread::sleep(Duration::from_millis(700));
            let now = fs::metadata(&self.file).map_or(0, |file| file.len());
            if now == size {
                break;
            }
            size = now;
        }
        self.stop();
    }

    fn stop(&mut self) {
        let pid = i32::try_from(self.dumpcap.id()).expect("a process");
        // SAFETY: the process is our own child and has not been waited for.
        unsafe { libc::kill(pid, libc::SIGINT) };
        self.dumpcap.wait().expect("dumpcap ends");
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        if matches!(self.dumpcap.try_wait(), Ok(None)) {
            self.stop();
        }
        // Best effort: the file is in the machine's own place for such.
        let _ = fs::remove_file(&self.file);
    }
}

/// The dissection of our engine.
fn dissect(file: &Path) -> Value {
    let output = Command::new(crate::ENGINE)
        .arg("dissect")
        .arg(file)
        .arg("--json")
        .output()
        .expect("the engine runs");
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("one document")
}

/// The values of a field, each occurrence in every packet, as Wireshark prints it.
fn tshark(file: &Path, decode: &str, field: &str) -> Vec<String> {
    let output = Command::new("tshark")
        .args(["-n", "-r"])
        .arg(file)
        // By the port and not by heuristics, which differ between versions of Wireshark.
        .args(["-d", decode, "-T", "fields", "-e", field])
        .args(["-E", "occurrence=a", "-E", "aggregator=,"])
        .output()
        .expect("tshark runs");
    let text = String::from_utf8(output.stdout).expect("fields are text");
    let values = text.split(['\n', ',']).map(str::trim);
    let values = values.filter(|value| !value.is_empty());
    values.map(str::to_owned).collect()
}

fn count(values: Vec<String>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts
}

/// A stack, a service of it, and a load of it under capture: the document, and the file.
fn trial(name: &str, stack: Value, operation: &str) -> Option<(Value, Tap, String)> {
    let mut served = stack.clone();
    served
        .as_object_mut()
        .expect("an object")
        .remove("connection");
    let service = Service::start(
        "transfer",
        &served,
        &json!({"store": {"hello_bytes": 20_000}}),
    );
    let address = service.address();
    let port = address.rsplit(':').next().expect("a port").to_owned();
    let mut plan = plan(address);
    let of_group = &mut plan["groups"][0];
    of_group["workload"] = json!({"kind": "contract", "contract": "transfer",
        "operation": operation, "bytes": 20_000});
    of_group["stack"] = stack;
    of_group["load"]["users"] = json!(3);
    of_group["window"] = json!({"calls": {"calls": CALLS, "max_s": 30.0}});
    of_group["timeout_s"] = json!(20.0);
    if let Some(ior) = service.ready.get("ior").filter(|ior| !ior.is_null()) {
        of_group["object"] = ior.clone();
    }
    for _ in 0..TAPS {
        let mut tap = Tap::begin(name, &port)?;
        assert_eq!(group(&plan)["ok"], CALLS);
        tap.end();
        let document = dissect(&tap.file);
        // Else the counts could differ for a reason that is not ours.
        let drops = &document["capture"]["drops"];
        if *drops != 0 {
            wirelab_contract::print_error!(
                "{name}: captured again, dumpcap dropped {drops} packets"
            );
            continue;
        }
        payload_agrees(&document, &tap.file);
        let exchanges = &document["exchanges"];
        assert_eq!(exchanges["count"], CALLS, "{exchanges:#}");
        assert_eq!(exchanges["endings"], json!({"framed": CALLS}));
        return Some((document, tap, port));
    }
    panic!("each of {TAPS} captures dropped packets")
}

/// All payload, connection by connection, and the sums of what it is.
fn payload_agrees(document: &Value, file: &Path) {
    let lengths = tshark(file, "tcp.port==1,http", "tcp.len");
    let sum: u64 = lengths
        .iter()
        .map(|length| length.parse::<u64>().expect("a number"))
        .sum();
    let total = &document["accounting"]["total"];
    assert_eq!(total["all"]["payload_bytes"], sum);
    assert_eq!(total["all"]["packets"], lengths.len() as u64);
    let payload = &total["payload"];
    let parts = ["overhead_bytes", "message_bytes", "retransmitted_bytes"];
    let parts: u64 = parts
        .iter()
        .map(|part| payload[part].as_u64().expect("bytes"))
        .sum();
    assert_eq!(parts, sum, "nothing is unknown: {payload}");
    let wire: u64 = tshark(file, "tcp.port==1,http", "frame.len")
        .iter()
        .map(|length| length.parse::<u64>().expect("a number"))
        .sum();
    assert_eq!(total["all"]["bytes"], wire);
}

/// Our counts of both directions together, by kind.
fn units(document: &Value) -> BTreeMap<String, u64> {
    let units = &document["accounting"]["total"]["units"];
    serde_json::from_value(units.clone()).expect("counts")
}

fn http_agrees(name: &str, stack: Value, operation: &str) {
    let Some((document, tap, port)) = trial(name, stack, operation) else {
        return;
    };
    let decode = format!("tcp.port=={port},http");
    let theirs = ["http.request.method", "http.response.code"]
        .map(|field| tshark(&tap.file, &decode, field).len() as u64);
    let ours = units(&document);
    assert_eq!([ours["http-request"], ours["http-reply"]], theirs);
    assert_eq!(theirs, [CALLS; 2]);
}

#[test]
fn requests_and_replies_of_rest() {
    let stack = json!({"binding": "rest", "codec": "json", "transport": "http/1.1"});
    http_agrees("rest", stack, "Submit");
}

#[test]
fn requests_and_replies_of_http_1_0() {
    let stack = json!({"binding": "rest", "codec": "json", "transport": "http/1.0",
        "connection": "close"});
    http_agrees("http10", stack, "Hello");
}

#[test]
fn requests_and_replies_of_soap() {
    let stack = json!({"binding": "soap", "codec": "soap-literal", "transport": "http/1.1"});
    http_agrees("soap", stack, "Submit");
}

/// Frames by their types (RFC 9113 section 6), the client's preface aside.
fn frames_agree(name: &str, stack: Value, operation: &str) {
    let Some((document, tap, port)) = trial(name, stack, operation) else {
        return;
    };
    let decode = format!("tcp.port=={port},http2");
    let theirs = count(tshark(&tap.file, &decode, "http2.type"));
    let names = [
        "h2-data",
        "h2-headers",
        "h2-priority",
        "h2-rst-stream",
        "h2-settings",
        "h2-push-promise",
        "h2-ping",
        "h2-goaway",
        "h2-window-update",
        "h2-continuation",
    ];
    let theirs = theirs.into_iter().map(|(kind, count)| {
        let kind: usize = kind.parse().expect("a number");
        (names[kind].to_owned(), count)
    });
    assert_eq!(units(&document), theirs.collect());
}

#[test]
fn frames_of_grpc() {
    let stack = json!({"binding": "grpc", "codec": "protobuf", "transport": "http/2"});
    frames_agree("grpc", stack.clone(), "Submit");
    frames_agree("grpc-stream", stack, "UploadStream");
}

#[test]
fn frames_of_rest_over_http_2() {
    let stack = json!({"binding": "rest", "codec": "json", "transport": "http/2"});
    frames_agree("rest2", stack, "Submit");
}

#[test]
fn messages_of_giop() {
    let stack = json!({"binding": "iiop", "codec": "cdr", "transport": "tcp"});
    let Some((document, tap, port)) = trial("iiop", stack, "Submit") else {
        return;
    };
    let decode = format!("tcp.port=={port},giop");
    let theirs = count(tshark(&tap.file, &decode, "giop.type"));
    let names = [
        // In the order of their numbers (CORBA 3.3 part 2, section 9.4.1).
        "giop-request",
        "giop-reply",
        "giop-cancel-request",
        "giop-locate-request",
        "giop-locate-reply",
        "giop-close-connection",
        "giop-message-error",
        "giop-fragment",
    ];
    let theirs = theirs.into_iter().map(|(kind, count)| {
        let kind = kind.strip_prefix("0x").unwrap_or(&kind);
        let kind = usize::from_str_radix(kind, 16).expect("a number");
        (names[kind].to_owned(), count)
    });
    assert_eq!(units(&document), theirs.collect());
}

/// Wireshark does not know it; the load does.
#[test]
fn messages_of_raw() {
    let stack = json!({"binding": "raw", "codec": "soap-literal", "transport": "tcp"});
    if let Some((document, ..)) = trial("raw", stack, "Submit") {
        assert_eq!(
            units(&document),
            [("raw-message".to_owned(), 2 * CALLS)].into()
        );
    }
}
