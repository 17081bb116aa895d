//! How fast a capture is read: `cargo run --release -p wirelab-trace --example
//! read_speed [-- --packets N] [--connections N] [--tshark]`. With `--write FILE`
//! it only writes that capture; with `--read FILE` it reads one once, with
//! `--dissect FILE` it dissects one with all that a dissection has, and says how
//! many packets and connections it held: for a bench that measures from outside.
//!
//! Writes a synthetic capture of a few million packets to a temporary file,
//! reads it with connections, reassembly and an observer that counts, and
//! prints packets per second and the peak of memory as one JSON line. With
//! --tshark also what tshark needs for the first 100,000 of them, and the ratio.

#![allow(
    clippy::disallowed_macros,
    reason = "words for whoever runs it by hand"
)]

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};
use wirelab_trace::Summary;
use wirelab_trace::diagnosis::Diagnosis;
use wirelab_trace::flow::event::{Closing, Direction, FlowId, Observer, Opening, Segment};
use wirelab_trace::output::{Dissector, Options};
use wirelab_trace::packet::file::{InterfaceTotals, Writer};
use wirelab_trace::packet::link_layer::LinkType;

/// tshark reads no more than these: it is slow, and its memory grows.
const TSHARK_PACKETS: u64 = 100_000;

/// Does so little that the reading is measured, and enough that nothing is left out.
#[derive(Default)]
struct Counter {
    segments: u64,
    bytes: u64,
    gaps: u64,
    closed: u64,
}

impl Observer for Counter {
    fn opened(&mut self, _flow: FlowId, _opening: &Opening) {}
    fn segment(&mut self, _flow: FlowId, _segment: &Segment) {
        self.segments += 1;
    }
    fn bytes(&mut self, _flow: FlowId, _offset: u64, bytes: &[u8], _segment: &Segment) {
        self.bytes += bytes.len() as u64;
    }
    fn gap(&mut self, _flow: FlowId, _direction: Direction, _offset: u64, _bytes: u64) {
        self.gaps += 1;
    }
    fn closed(&mut self, _flow: FlowId, _at_ns: u64, _closing: Closing) {
        self.closed += 1;
    }
}

/// A file that ends with this.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Temporary {
        let name = format!("wirelab-{}-{name}", std::process::id());
        Temporary(std::env::temp_dir().join(name))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            eprintln!("{}: {error}", self.0.display());
        }
    }
}

/// The value of an option.
fn word<'a>(arguments: &'a [String], option: &str) -> Option<&'a String> {
    let at = arguments.iter().position(|word| word == option)?;
    arguments.get(at + 1)
}

fn number(arguments: &[String], option: &str, default: u64) -> u64 {
    word(arguments, option).map_or(default, |text| {
        text.parse().expect("a number behind the option")
    })
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let packets = number(&arguments, "--packets", 4_000_000);
    let connections = number(&arguments, "--connections", 64);
    if let Some(path) = word(&arguments, "--write") {
        write_capture(Path::new(path), packets, connections).expect("a file to write");
        return;
    }
    if let Some(path) = word(&arguments, "--read") {
        let (_, summary) = read(Path::new(path));
        println!(
            "{}",
            json!({"packets": summary.packets, "connections": summary.flows.flows})
        );
        return;
    }
    if let Some(path) = word(&arguments, "--dissect") {
        println!("{}", dissect(Path::new(path)));
        return;
    }
    let file = Temporary::new("read-speed.pcapng");
    let file_bytes = write_capture(&file.0, packets, connections).expect("a temporary file");
    // Once for the page cache; the fastest of the others, as the machine is shared.
    let mut runs: Vec<f64> = (0..4).map(|_| read_all(&file.0, packets)).skip(1).collect();
    runs.sort_by(f64::total_cmp);
    let cpu_begun = cpu_s();
    read_all(&file.0, packets);
    let cpu = cpu_s() - cpu_begun;
    let mut report = json!({
        "packets": packets,
        "connections": connections,
        "file_bytes": file_bytes,
        "seconds": runs,
        "packets_per_second": (packets as f64 / runs[0]).round(),
        "packets_per_cpu_second": (packets as f64 / cpu).round(),
        "megabytes_per_second": (file_bytes as f64 / runs[0] / 1e6).round(),
        "peak_memory_bytes": peak_memory_bytes(),
    });
    if arguments.iter().any(|word| word == "--tshark") {
        report["tshark"] = compare_with_tshark(packets as f64 / runs[0], connections);
    }
    println!("{report}");
}

/// Seconds for the whole file, which holds that number of packets.
fn read_all(path: &Path, packets: u64) -> f64 {
    let (seconds, summary) = read(path);
    assert_eq!(summary.packets, packets);
    seconds
}

/// Seconds for the whole file, and what was in it.
fn read(path: &Path) -> (f64, Summary) {
    let mut counter = Counter::default();
    let started = Instant::now();
    let summary: Summary = wirelab_trace::read_file(path, &mut counter).expect("a capture");
    let seconds = started.elapsed().as_secs_f64();
    assert_eq!(counter.segments, summary.packets);
    assert_eq!(counter.bytes, summary.flows.payload_bytes);
    assert_eq!((counter.gaps, counter.closed), (0, summary.flows.flows));
    (seconds, summary)
}

/// What the verb `dissect` of the engine does, less the words around it.
fn dissect(path: &Path) -> Value {
    let mut dissector = Dissector::new(Options::default(), Diagnosis::default());
    let summary = wirelab_trace::read_file(path, &mut dissector).expect("a capture");
    let (dissection, diagnosis) = dissector.finish(&path.display().to_string(), &summary);
    json!({
        "packets": summary.packets,
        "connections": dissection.flows.count,
        "exchanges": dissection.exchanges.count,
        "findings": diagnosis.findings().len(),
    })
}

fn compare_with_tshark(ours: f64, connections: u64) -> Value {
    let file = Temporary::new("tshark.pcapng");
    write_capture(&file.0, TSHARK_PACKETS, connections).expect("a temporary file");
    let started = Instant::now();
    let words = [
        "-n",
        "-T",
        "fields",
        "-e",
        "tcp.stream",
        "-e",
        "tcp.analysis.retransmission",
        "-r",
    ];
    let output = Command::new("tshark").args(words).arg(&file.0).output();
    let output = output.expect("tshark (apt-get install tshark)");
    let seconds = started.elapsed().as_secs_f64();
    let lines = output.stdout.split(|byte| *byte == b'\n').count() as u64 - 1;
    assert_eq!((lines, output.status.success()), (TSHARK_PACKETS, true));
    let theirs = TSHARK_PACKETS as f64 / seconds;
    json!({
        "packets": TSHARK_PACKETS,
        "seconds": seconds,
        "packets_per_second": theirs.round(),
        "ratio": (ours / theirs * 10.0).round() / 10.0,
    })
}

/// CPU time of this process so far, its part in the kernel included: what
/// others take of a shared machine does not count.
fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The most that this process held, with the parts of libraries and its stack.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

const FIN: u8 = 1;
const SYN: u8 = 2;
const ACK: u8 = 16;
const PUSH: u8 = 8;
const HEADERS: usize = 14 + 20 + 32;
const REQUEST: &[u8] = b"GET /hello HTTP/1.1\r\nHost: 198.18.0.2:8080\r\nAccept: */*\r\n\r\n";
const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n\r\nHello, wirelab";
/// Calls of a connection before it is replaced.
const CALLS: u32 = 1_000;

struct Connection {
    port: u16,
    address: u8,
    sequences: [u32; 2],
    step: u32,
}

/// A capture like those of a load test: connections that are opened, make calls in turn,
/// and are replaced by others. Writes `packets` packets of `connections` connections in turn; gives the
/// bytes of the file.
fn write_capture(path: &Path, packets: u64, connections: u64) -> io::Result<u64> {
    let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut writer = Writer::new(out, LinkType::ETHERNET, 262_144, "synthetic")?;
    let open = |number: u64| Connection {
        port: 20_000 + (number % 40_000) as u16,
        address: 1 + (number / 40_000) as u8,
        sequences: [number as u32 * 7_919, number as u32 * 104_729],
        step: 0,
    };
    let mut all: Vec<Connection> = (0..connections.max(1)).map(open).collect();
    let mut frame = Vec::with_capacity(256);
    for number in 0..packets {
        let which = (number % all.len() as u64) as usize;
        all[which].next(&mut frame);
        // A packet per microsecond.
        let at_ns = 1_700_000_000_000_000_000 + number * 1_000;
        writer.write_frame(at_ns, frame.len() as u32, &frame)?;
    }
    writer.finish(&InterfaceTotals::default())?;
    drop(writer);
    Ok(path.metadata()?.len())
}

impl Connection {
    /// The next packet: three to open, three for each call, three to close.
    fn next(&mut self, frame: &mut Vec<u8>) {
        let last = 3 + 3 * CALLS;
        let (side, flags, payload): (usize, u8, &[u8]) = match self.step {
            0 => (0, SYN, b""),
            1 => (1, SYN | ACK, b""),
            2 => (0, ACK, b""),
            step if step == last => (0, FIN | ACK, b""),
            step if step == last + 1 => (1, FIN | ACK, b""),
            step if step == last + 2 => (0, ACK, b""),
            step if step % 3 == 0 => (0, PUSH | ACK, REQUEST),
            step if step % 3 == 1 => (1, PUSH | ACK, REPLY),
            _ => (0, ACK, b""),
        };
        self.write(side, flags, payload, frame);
        let edge = u32::from(flags & (SYN | FIN) != 0);
        self.sequences[side] = self.sequences[side].wrapping_add(payload.len() as u32 + edge);
        self.step = (self.step + 1) % (last + 3);
        if self.step == 0 {
            // The same two ends with other numbers.
            self.sequences[0] = self.sequences[0].wrapping_add(1_000_000);
            self.sequences[1] = self.sequences[1].wrapping_add(2_000_000);
        }
    }

    fn write(&self, side: usize, flags: u8, payload: &[u8], frame: &mut Vec<u8>) {
        let ends = [
            ([198, 18, 0, self.address], self.port),
            ([198, 19, 0, 2], 8080),
        ];
        let (from, to) = (ends[side], ends[1 - side]);
        frame.clear();
        frame.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
        frame.extend([0x45, 0]);
        frame.extend(((HEADERS - 14 + payload.len()) as u16).to_be_bytes());
        frame.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        frame.extend(from.0);
        frame.extend(to.0);
        frame.extend(from.1.to_be_bytes());
        frame.extend(to.1.to_be_bytes());
        frame.extend(self.sequences[side].to_be_bytes());
        let acknowledged = if flags & ACK == 0 {
            0
        } else {
            self.sequences[1 - side]
        };
        frame.extend(acknowledged.to_be_bytes());
        frame.extend([0x80, flags, 1, 0xF6, 0, 0, 0, 0]);
        // Two paddings and timestamps, as Linux sends them.
        frame.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        debug_assert_eq!(frame.len(), HEADERS);
        frame.extend(payload);
    }
}
