//! Wireshark's tools, and their analysis of each packet as the oracle for ours.

#[path = "../../../contract/tests/skipped/mod.rs"]
mod skipped;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use skipped::report_skip;
use wirelab_trace::Summary;
use wirelab_trace::flow::event::SegmentKind;

use super::events::{Events, read};

/// Whether a tool is installed; prints a line when not.
pub fn has(tool: &str) -> bool {
    let is_there = Command::new(tool).arg("--version").output().is_ok();
    if !is_there {
        let package = package(tool);
        report_skip(format!(
            "{tool} is not installed (apt-get install {package})"
        ));
    }
    is_there
}

/// Debian's package of a tool.
fn package(tool: &str) -> &str {
    match tool {
        "tshark" => tool,
        _ => "wireshark-common",
    }
}

pub fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        report_skip("capturing and namespaces need root");
    }
    is_root
}

/// A folder that ends with the test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::SeqCst);
        let name = format!("wirelab-captures-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder for temporary files");
        Folder(folder)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.file(name);
        fs::write(&path, bytes).expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Best effort: the folder is in the machine's own place for such.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What it says of one packet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    pub number: u64,
    pub wire_bytes: u64,
    pub at_ns: u64,
    pub stream: Option<u32>,
    pub payload_bytes: Option<u64>,
    pub retransmission: bool,
    pub fast: bool,
    pub spurious: bool,
    pub out_of_order: bool,
    pub keep_alive: bool,
    pub window_probe: bool,
    pub duplicate_acknowledgment: bool,
    pub zero_window: bool,
    pub reset: bool,
}

const FIELDS: [&str; 14] = [
    "frame.number",
    "frame.len",
    "frame.time_epoch",
    "tcp.stream",
    "tcp.len",
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.keep_alive",
    "tcp.analysis.zero_window_probe",
    "tcp.analysis.duplicate_ack",
    "tcp.analysis.zero_window",
    "tcp.flags.reset",
];

/// Has tshark read a capture. TCP inside of ICMP errors is not a packet of its own.
pub fn rows(capture: &Path) -> Vec<Row> {
    let mut tshark = Command::new("tshark");
    tshark.args([
        "-n",
        "-T",
        "fields",
        "-E",
        "separator=/t",
        "-E",
        "occurrence=f",
    ]);
    // Fragments are counted here, not put together.
    tshark.args(["-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE"]);
    tshark
        .args(FIELDS.iter().flat_map(|field| ["-e", field]))
        .arg("-r")
        .arg(capture);
    let output = tshark.output().expect("tshark");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() || said.contains("cut short"),
        "{said}"
    );
    let text = String::from_utf8(output.stdout).expect("numbers");
    text.lines().map(row).collect()
}

fn row(line: &str) -> Row {
    let fields: Vec<&str> = line.split('\t').collect();
    let flag = |at: usize| !fields[at].is_empty();
    Row {
        number: fields[0].parse().expect("a number"),
        wire_bytes: fields[1].parse().expect("a number"),
        at_ns: nanoseconds(fields[2]),
        stream: fields[3].parse().ok(),
        payload_bytes: fields[4].parse().ok(),
        retransmission: flag(5),
        fast: flag(6),
        spurious: flag(7),
        out_of_order: flag(8),
        keep_alive: flag(9),
        window_probe: flag(10),
        duplicate_acknowledgment: flag(11),
        zero_window: flag(12),
        reset: matches!(fields[13], "1" | "True"),
    }
}

/// Seconds with nine digits behind the point; nothing where a packet has no time.
fn nanoseconds(seconds: &str) -> u64 {
    let Some((whole, fraction)) = seconds.split_once('.') else {
        return 0;
    };
    let whole: u64 = whole.parse().expect("seconds");
    let fraction: u64 = format!("{fraction:0<9}").parse().expect("nanoseconds");
    whole * 1_000_000_000 + fraction
}

/// Runs editcap, text2pcap and such.
pub fn run(tool: &str, arguments: &[&str]) {
    let output = Command::new(tool).args(arguments).output().expect(tool);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool} {arguments:?}: {said}");
}

/// What capinfos says, line by line; it must not complain.
pub fn capinfos(capture: &Path) -> String {
    let output = Command::new("capinfos")
        .arg(capture)
        .output()
        .expect("capinfos");
    let said = String::from_utf8_lossy(&output.stderr);
    let said: Vec<_> = said
        .lines()
        .filter(|line| !line.contains("Running as user"))
        .collect();
    assert!(output.status.success() && said.is_empty(), "{said:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Reads a capture with both, and compares packet by packet: number, length,
/// time, connection, payload and what kind of segment it is.
pub fn agree(capture: &Path) -> (Summary, Events) {
    let (summary, events) = read(&fs::read(capture).expect("a capture"));
    let theirs = rows(capture);
    assert_eq!(summary.packets, theirs.len() as u64, "packets");
    assert_eq!(
        summary.bytes,
        theirs.iter().map(|row| row.wire_bytes).sum::<u64>(),
        "bytes"
    );
    let of_tcp: Vec<&Row> = theirs
        .iter()
        .filter(|row| row.payload_bytes.is_some())
        .collect();
    let ours: Vec<u64> = events.segments.iter().map(|(_, one)| one.packet).collect();
    let numbers: Vec<u64> = of_tcp.iter().map(|row| row.number).collect();
    assert_eq!(ours, numbers, "TCP packets");
    for (row, (flow, segment)) in of_tcp.iter().zip(&events.segments) {
        let ours = (segment.packet, Some(*flow), Some(u64::from(segment.bytes)));
        assert_eq!(
            ours,
            (row.number, row.stream, row.payload_bytes),
            "{row:?} {segment:?}"
        );
        assert_eq!(segment.at_ns, row.at_ns, "{row:?}");
        // Packet by packet: equal sums could hide two errors that cancel out.
        agree_on_kind(row, segment.kind);
    }
    agree_on_counts(&of_tcp, &summary);
    (summary, events)
}

fn agree_on_kind(row: &Row, kind: SegmentKind) {
    if kind == SegmentKind::Reset {
        return;
    }
    let ours = (
        kind == SegmentKind::Retransmission,
        kind == SegmentKind::OutOfOrder,
        kind == SegmentKind::KeepAlive,
    );
    let theirs = (
        row.retransmission,
        row.out_of_order,
        // A probe that is sent again is a retransmission first.
        // Our kinds are exclusive; Wireshark's flags are not.
        (row.keep_alive || row.window_probe) && !row.retransmission && !row.out_of_order,
    );
    assert_eq!(ours, theirs, "{row:?} {kind:?}");
}

fn agree_on_counts(of_tcp: &[&Row], summary: &Summary) {
    let count = |what: fn(&Row) -> bool| of_tcp.iter().filter(|row| what(row)).count() as u64;
    let flows = &summary.flows;
    let ours = [
        flows.flows,
        flows.payload_bytes,
        flows.retransmissions,
        flows.fast_retransmissions,
        flows.spurious_retransmissions,
        flows.out_of_order,
        flows.duplicate_acknowledgments,
        flows.zero_windows,
        flows.resets,
    ];
    let streams = of_tcp.iter().filter_map(|row| row.stream).max();
    let theirs = [
        streams.map_or(0, |last| u64::from(last) + 1),
        of_tcp.iter().filter_map(|row| row.payload_bytes).sum(),
        count(|row| row.retransmission),
        count(|row| row.fast),
        count(|row| row.spurious),
        count(|row| row.out_of_order),
        count(|row| row.duplicate_acknowledgment),
        count(|row| row.zero_window),
        count(|row| row.reset),
    ];
    assert_eq!(
        ours, theirs,
        "flows, payload, retransmissions, fast, spurious, out of order, duplicate ACKs, zero \
         windows, resets"
    );
}
