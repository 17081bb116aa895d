//! Wireshark's tools as the oracle.

#[path = "../../../contract/tests/skipped/mod.rs"]
mod skipped;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use skipped::skipped;

/// Whether a tool is here; says so when not.
pub fn has(tool: &str) -> bool {
    let is_there = Command::new(tool).arg("--version").output().is_ok();
    if !is_there {
        let package = package(tool);
        skipped(format!(
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
        skipped("capturing and namespaces need root");
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
}

const FIELDS: [&str; 11] = [
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
];

/// Has tshark read a capture. TCP inside of ICMP errors is no packet of its own.
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
