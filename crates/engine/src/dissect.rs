//! `dissect`: a capture in, its dissection out.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use wirelab_contract::print_error;
use wirelab_trace::diagnosis::{Diagnosis, EXAMPLES};
use wirelab_trace::flow::event::Observer;
use wirelab_trace::host::{HostWindows, Reader, RecordError};
use wirelab_trace::output::reconciliation::{CallLog, LogError, Reconciler};
use wirelab_trace::output::{Dissection, Dissector, Options};
use wirelab_trace::protocol::exchange::ExchangeObserver;
use wirelab_trace::protocol::tls::keylog::KeyLog;
use wirelab_trace::read_file;

/// What to read, and what to print of it.
#[derive(Args)]
pub(crate) struct Arguments {
    /// pcap or pcapng; `-` is standard input.
    file: PathBuf,
    /// Print one line of JSON instead of an indented document.
    #[arg(long)]
    json: bool,
    /// Only connections to or from that port.
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// The exchange whose packets to list, from 1 in the order of their first
    /// packets; by default one with the median latency.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    timeline: Option<u64>,
    /// List that number of the slowest exchanges, and compare the slowest hundredth with those
    /// around the median.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1000))]
    slowest: Option<u16>,
    /// Follow messages inside streams (server-sent events, WebSocket, gRPC, Connect, lines of
    /// JSON), and list that number of those with the longest times before them.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1000))]
    messages: Option<u16>,
    /// Connections to list.
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 64
    )]
    flows: u32,
    /// Requests, from the first, of which to list begin and duration.
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 0
    )]
    sample: u32,
    /// Leave out connections by their client's end: each line has ADDRESS:PORT and the time up to
    /// which they opened, nanoseconds since the Unix epoch.
    #[arg(long, value_name = "FILE")]
    without: Option<PathBuf>,
    /// The engine's log of calls (plan: call_log), to show each call with its packets.
    #[arg(long, value_name = "LOG")]
    calls: Option<PathBuf>,
    /// Secrets to decrypt TLS with, in the format of NSS key logs: what programs write
    /// where SSLKEYLOGFILE names a file.
    #[arg(long, value_name = "FILE")]
    keylog: Option<PathBuf>,
    /// The record of what the server's processes did meanwhile (wirelab-engine host), to
    /// divide the time of the server by it.
    #[arg(long, value_name = "RECORD")]
    host: Option<PathBuf>,
    /// Name every occurrence of each finding, not the longest few.
    #[arg(long)]
    all_findings: bool,
}

pub(crate) fn dissect(arguments: &Arguments) -> ExitCode {
    let dissection = match read(arguments) {
        Ok(dissection) => dissection,
        Err(message) => {
            print_error!("wirelab-engine: {message}");
            return ExitCode::from(2);
        }
    };
    match print(&dissection, arguments.json) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error!("wirelab-engine: standard output: {error}");
            ExitCode::from(3)
        }
    }
}

/// What the capture holds; or the file that cannot be read, why, and what to do.
fn read(arguments: &Arguments) -> Result<Dissection, String> {
    let examples = if arguments.all_findings {
        usize::MAX
    } else {
        EXAMPLES
    };
    let mut diagnosis = Diagnosis::new(examples).listing(arguments.flows as usize);
    if arguments.host.is_some() {
        diagnosis = diagnosis.with_host();
    }
    if let Some(slowest) = arguments.slowest {
        diagnosis = diagnosis.with_slowest(slowest.into());
    }
    if let Some(messages) = arguments.messages {
        diagnosis = diagnosis.with_messages(messages.into());
    }
    let mut records = arguments.host.as_deref().map(host_records).transpose()?;
    // The log is opened before the capture is read, which may take minutes.
    let Some(log) = &arguments.calls else {
        let (mut dissection, diagnosis) = run(diagnosis, arguments)?;
        let times = dissection.add_diagnosis(diagnosis);
        divide(&mut dissection, times, records.as_mut())?;
        return Ok(dissection);
    };
    let calls = calls(log).map_err(|error| {
        let remedy = "name the file that the plan named as call_log";
        format!("--calls {}: {error}; {remedy}", log.display())
    })?;
    let (mut dissection, reconciler) = run(Reconciler::new(calls, diagnosis), arguments)?;
    let (reconciliation, diagnosis) = reconciler.finish();
    dissection.reconciliation = Some(reconciliation);
    let times = dissection.add_diagnosis(diagnosis);
    divide(&mut dissection, times, records.as_mut())?;
    Ok(dissection)
}

struct HostRecords {
    name: String,
    reader: Reader<BufReader<File>>,
}

const HOST_REMEDY: &str = "name the file that `wirelab-engine host` wrote meanwhile";

fn host_records(file: &Path) -> Result<HostRecords, String> {
    let name = file.display().to_string();
    let opened = File::open(file).map_err(RecordError::from);
    let reader = opened.and_then(|file| Reader::new(BufReader::new(file)));
    let reader = reader.map_err(|error| format!("--host {name}: {error}; {HOST_REMEDY}"))?;
    Ok(HostRecords { name, reader })
}

/// Divides the times of the server by the record of its host.
fn divide(
    dissection: &mut Dissection,
    times: Option<HostWindows>,
    records: Option<&mut HostRecords>,
) -> Result<(), String> {
    let (Some(times), Some(records)) = (times, records) else {
        return Ok(());
    };
    let (sums, totals) = times
        .read(&mut records.reader)
        .map_err(|error| format!("--host {}: {error}; {HOST_REMEDY}", records.name))?;
    dissection.add_host_waits(&sums, totals.map(|totals| totals.drops));
    Ok(())
}

/// The ends that a file lists; or why it cannot be read, and what to do.
fn ends(file: &Path) -> Result<HashMap<SocketAddr, u64>, String> {
    let remedy = "give lines of ADDRESS:PORT and nanoseconds";
    let text = fs::read_to_string(file)
        .map_err(|error| format!("--without {}: {error}; {remedy}", file.display()))?;
    let entry = |line: &str| {
        let (end, until_ns) = line.split_once(' ')?;
        Some((end.parse().ok()?, until_ns.trim().parse().ok()?))
    };
    let entries = text.lines().map(|line| {
        entry(line).ok_or_else(|| format!("--without {}: {line:?}; {remedy}", file.display()))
    });
    entries.collect()
}

fn calls(log: &Path) -> Result<CallLog<File>, LogError> {
    CallLog::new(File::open(log)?)
}

/// The secrets of a key log; or why it cannot be read, and what to do.
fn keys(file: &Path) -> Result<KeyLog, String> {
    let remedy = "name the file that SSLKEYLOGFILE named for the client or the server";
    let failed = |reason: &dyn Display| format!("--keylog {}: {reason}; {remedy}", file.display());
    let read = File::open(file).map(BufReader::new).and_then(KeyLog::read);
    let keys = read.map_err(|error| failed(&error))?;
    if keys.is_foreign() {
        return Err(failed(
            &"none of its lines is one of the NSS key log format",
        ));
    }
    Ok(keys)
}

/// Reads the capture, reports it to `observer`, and returns both results.
fn run<D: Observer + ExchangeObserver>(
    observer: D,
    arguments: &Arguments,
) -> Result<(Dissection, D), String> {
    let options = Options {
        port: arguments.port,
        timeline: arguments.timeline,
        flows: arguments.flows as usize,
        sample: arguments.sample as usize,
        without: arguments
            .without
            .as_deref()
            .map_or(Ok(HashMap::new()), ends)?,
    };
    let file = arguments.file.display().to_string();
    let keys = arguments
        .keylog
        .as_deref()
        .map_or(Ok(KeyLog::default()), keys)?;
    let mut dissector = Dissector::new(options, observer).with_keys(keys);
    let summary = read_file(&arguments.file, &mut dissector)
        .map_err(|error| format!("{file}: {error}; {}", error.remedy()))?;
    Ok(dissector.finish(&file, &summary))
}

fn print(dissection: &Dissection, line: bool) -> io::Result<()> {
    let mut text = if line {
        serde_json::to_vec(dissection)?
    } else {
        serde_json::to_vec_pretty(dissection)?
    };
    text.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    out.flush()
}
