//! The verb `capture`, as the lab uses it and by hand, during a load.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wirelab_trace::flow::event::{Closing, Direction, FlowId, Observer, Opening, Segment};
use wirelab_trace::{Summary, read_file};

use crate::support;
use crate::support::report_skip;
use crate::support::service::Service;

fn is_root() -> bool {
    // SAFETY: geteuid takes nothing and cannot fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root {
        report_skip("capturing needs root");
    }
    is_root
}

/// A folder that ends with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let name = format!("wirelab-capture-{}-{test}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Best effort: the folder is in the machine's own place for such.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A capture under way.
struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Running {
    fn spawn(command: &mut Command) -> Running {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        Running {
            child,
            stdin,
            stdout,
        }
    }

    /// As the lab does it; returns its first line, too.
    fn start_configured(config: &Value) -> (Running, Value) {
        let mut running = Running::spawn(engine().arg("capture"));
        let stdin = running.stdin.as_mut().expect("piped");
        writeln!(stdin, "{config}").expect("it reads its configuration");
        let line = running.line();
        (running, line)
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("UTF-8");
        serde_json::from_str(&line).expect("one JSON line")
    }

    /// Its last line, exit code, and text.
    fn ended(mut self) -> (Value, Option<i32>, String) {
        let last = self.line();
        let mut text = String::new();
        let mut stderr = self.child.stderr.take().expect("piped");
        stderr.read_to_string(&mut text).expect("UTF-8");
        let code = self.child.wait().expect("it ends").code();
        (last, code, text)
    }

    fn stop(mut self) -> (Value, Option<i32>, String) {
        drop(self.stdin.take());
        self.ended()
    }

    fn signal(&self, signal: libc::c_int) {
        // SAFETY: kill takes numbers; the child was not waited for.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }
}

fn engine() -> Command {
    Command::new(crate::ENGINE)
}

/// Nothing but the summary is looked at.
struct NullObserver;

impl Observer for NullObserver {
    fn opened(&mut self, _flow: FlowId, _opening: &Opening) {}
    fn segment(&mut self, _flow: FlowId, _segment: &Segment) {}
    fn bytes(&mut self, _flow: FlowId, _offset: u64, _bytes: &[u8], _carrier: &Segment) {}
    fn gap(&mut self, _flow: FlowId, _direction: Direction, _offset: u64, _bytes: u64) {}
    fn closed(&mut self, _flow: FlowId, _at_ns: u64, _closing: Closing) {}
}

fn read(file: &Path) -> Summary {
    read_file(file, &mut NullObserver).expect("a capture")
}

fn service() -> (Service, u16) {
    let stack = json!({
        "binding": "rest", "codec": "text", "compression": "none",
        "transport": "http/1.1", "security": "none",
    });
    let service = Service::start("transfer", &stack, &json!({}));
    let port = service.address().rsplit(':').next().expect("a port");
    let port = port.parse().expect("a number");
    (service, port)
}

/// Calls of the service on three connections; returns how many.
fn load(service: &Service) -> u64 {
    let mut plan = support::plan(service.address());
    plan["groups"][0]["load"]["users"] = json!(3);
    plan["groups"][0]["workload"]["path"] = json!("/hello");
    let group = support::group(&plan);
    group["calls_whole_run"].as_u64().expect("a count")
}

#[test]
fn a_load_is_captured_whole_and_wireshark_opens_it() {
    if !is_root() {
        return;
    }
    let (folder, (service, port)) = (Folder::new("load"), service());
    let file = folder.file("load.pcapng");
    let config = json!({"interface": "lo", "file": file, "snaplen": null, "port": port});
    let (running, ready) = Running::start_configured(&config);
    assert_eq!(ready["ready"], true, "{ready}");
    assert_eq!(ready["interface"], "lo");
    assert_eq!(ready["link_type"], "ethernet");
    let calls = load(&service);
    let (last, code, text) = running.stop();
    assert_eq!((code, text.as_str()), (Some(0), ""));
    let captured = &last["captured"];
    let summary = read(&file);
    assert_eq!(captured["packets"], summary.packets);
    assert_eq!(captured["bytes"], summary.bytes);
    assert_eq!(captured["drops"].as_u64(), summary.drops);
    assert!(captured["cpu_s"].as_f64().expect("seconds") > 0.0);
    assert_eq!(summary.damage, None);
    if captured["drops"] == 0 {
        assert_eq!((summary.flows.opened, summary.flows.gap_bytes), (3, 0));
        assert!(summary.packets >= 2 * calls, "{calls} calls, {summary:?}");
    }
    let Ok(output) = Command::new("capinfos").arg(&file).output() else {
        report_skip("the rest: capinfos is not installed (apt-get install wireshark-common)");
        return;
    };
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout).replace(' ', "");
    assert!(
        // capinfos shortens larger numbers (10 k).
        text.contains(&format!("Numberofpackets:{}", summary.packets)) || summary.packets > 9_999,
        "{text}"
    );
    assert!(text.contains("Timeprecision=nanoseconds(9)"), "{text}");
}

#[test]
fn by_hand_it_stops_by_itself_or_by_a_signal() {
    if !is_root() {
        return;
    }
    let folder = Folder::new("hand");
    let by_hand = |name: &str, more: &[&str]| {
        let mut engine = engine();
        engine
            .args(["capture", "--interface", "lo", "--file"])
            .arg(folder.file(name));
        Running::spawn(engine.args(more))
    };
    let mut running = by_hand("timed", &["--seconds", "0.2", "--port", "9"]);
    assert_eq!(running.line()["ready"], true);
    let (last, code, _) = running.ended();
    assert_eq!((code, &last["captured"]["packets"]), (Some(0), &json!(0)));
    assert_eq!(read(&folder.file("timed")).packets, 0);
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let mut running = by_hand(&format!("signal-{signal}"), &[]);
        assert_eq!(running.line()["ready"], true);
        running.signal(signal);
        let (last, code, _) = running.ended();
        assert_eq!(code, Some(0));
        assert!(last["captured"]["drops"].is_u64(), "{last}");
    }
}

#[test]
fn the_file_of_a_killed_capture_can_be_read() {
    if !is_root() {
        return;
    }
    let (folder, (service, port)) = (Folder::new("killed"), service());
    let file = folder.file("killed.pcapng");
    let config = json!({"interface": "lo", "file": file, "port": port});
    let (mut running, ready) = Running::start_configured(&config);
    assert_eq!(ready["ready"], true, "{ready}");
    load(&service);
    let begun = Instant::now();
    // The kernel hands a block of the ring over when it is full or 100 ms old.
    while file.metadata().map_or(0, |file| file.len()) < 10_000 {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "blocks are written as they fill"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    running.signal(libc::SIGKILL);
    running.child.wait().expect("it ends");
    let summary = read(&file);
    assert!(summary.packets > 20, "{summary:?}");
    assert_eq!((summary.damage, summary.drops), (None, None));
}

#[test]
fn a_full_disk_ends_it_with_words_and_what_was_written() {
    if !is_root() {
        return;
    }
    let (folder, (service, port)) = (Folder::new("full"), service());
    let mounted = Command::new("mount")
        // Less than the load below fills.
        .args(["-t", "tmpfs", "-o", "size=128k", "wirelab"])
        .arg(&folder.0)
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        report_skip("a tmpfs cannot be mounted here");
        return;
    }
    let file = folder.file("full.pcapng");
    let config = json!({"interface": "lo", "file": file, "port": port});
    let (mut running, ready) = Running::start_configured(&config);
    assert_eq!(ready["ready"], true, "{ready}");
    // A busy machine makes few calls in the time of one load.
    for _ in 0..50 {
        load(&service);
        if running.child.try_wait().expect("its child").is_some() {
            break;
        }
    }
    let (last, code, text) = running.stop();
    let summary = read(&file);
    let unmounted = Command::new("umount").arg("-l").arg(&folder.0).status();
    assert!(unmounted.expect("umount").success());
    assert_eq!(code, Some(3), "{last}");
    let message = last["failed"]["message"].as_str().expect("text");
    assert!(message.contains("No space left on device"), "{message}");
    assert!(text.contains(message), "{text}");
    assert!(
        last["failed"]["remedy"]
            .as_str()
            .expect("text")
            .contains("free some room")
    );
    assert!(
        // At least: the last write may have been taken in part.
        summary.packets
            >= last["failed"]["captured"]["packets"]
                .as_u64()
                .expect("a count")
    );
}

#[test]
fn numbers_that_capture_nothing_are_refused_by_name() {
    let folder = Folder::new("numbers");
    let file = folder.file("x.pcapng");
    let table = [
        ("--seconds", "0", "use 0.001 to 1e9 seconds"),
        ("--seconds", "-1", "use 0.001 to 1e9 seconds"),
        ("--seconds", "nan", "use 0.001 to 1e9 seconds"),
        ("--seconds", "inf", "use 0.001 to 1e9 seconds"),
        ("--seconds", "soon", "use 0.001 to 1e9 seconds"),
        ("--port", "0", "use 1 to 65535"),
        ("--port", "-1", "65535"),
        ("--port", "65536", "65535"),
        ("--snaplen", "0", "use 114 to 262144"),
        ("--snaplen", "-1", "-1"),
        ("--ring-mib", "0", "use 1 to"),
        ("--ring-mib", "-1", "-1"),
    ];
    for (option, value, remedy) in table {
        let output = engine()
            .args(["capture", "--interface", "lo", "--file"])
            .arg(&file)
            .args([option, value])
            .stdin(Stdio::null())
            .output()
            .expect("the engine runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{option} {value}: {text}");
        let named = option.trim_start_matches('-').replace('-', "_");
        assert!(text.replace('-', "_").contains(&named), "{text}");
        assert!(text.contains(remedy), "{option} {value}: {text}");
        assert!(!file.exists(), "a refusal leaves nothing behind");
    }
}

#[test]
fn options_that_cannot_be_honoured_are_refused_by_name() {
    let folder = Folder::new("refused");
    let taken = folder.file("taken.pcapng");
    fs::write(&taken, "measured long ago").expect("a file");
    let fresh = folder.file("fresh.pcapng");
    let pipe = folder.file("no-reader");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo of coreutils").success());
    let table = [
        (
            json!({"interface": "lo", "file": pipe}),
            "file",
            "begin to read",
            true,
        ),
        (
            json!({"interface": "lo", "file": taken}),
            "file",
            "use another name",
            true,
        ),
        (
            json!({"interface": "lo", "file": "/no/such/folder/x"}),
            "file",
            "folder",
            true,
        ),
        (
            json!({"interface": "nope", "file": fresh}),
            "interface",
            "use one of",
            true,
        ),
        (
            json!({"interface": "lo", "file": fresh, "snaplen": 3}),
            "snaplen",
            "114",
            true,
        ),
        (
            json!({"interface": "lo", "file": fresh, "ring_mib": 0}),
            "ring_mib",
            "use 1",
            true,
        ),
        (
            json!({"interface": "lo", "file": fresh, "port": 0}),
            "port",
            "use 1 to 65535, or leave it out",
            true,
        ),
        (
            json!({"interface": "lo", "file": fresh, "cores": [5000]}),
            "cores",
            "cores",
            false,
        ),
        (
            json!({"interface": "lo", "fyle": fresh}),
            "configuration",
            "schema",
            false,
        ),
    ];
    for (config, option, remedy, needs_root) in table {
        if needs_root && !is_root() {
            continue;
        }
        let (running, line) = Running::start_configured(&config);
        assert_eq!(line["refused"]["option"], option, "{config}: {line}");
        let line = line["refused"]["remedy"].as_str().expect("text");
        assert!(line.contains(remedy), "{line}");
        assert_eq!(
            running
                .child
                .wait_with_output()
                .expect("it ends")
                .status
                .code(),
            Some(2)
        );
    }
    assert_eq!(fs::read(&taken).expect("a file"), b"measured long ago");
    assert!(!fresh.exists(), "a refusal leaves nothing behind");
}

/// Where neither the packets nor the text have room, the exit code still shows it.
#[test]
fn words_that_find_no_room_do_not_change_how_it_ends() {
    let full = || std::fs::File::create("/dev/full").expect("a device that is always full");
    let output = Command::new(crate::ENGINE)
        .args([
            "capture",
            "--interface",
            "nowhere0",
            "--file",
            "/nowhere/at.all",
        ])
        .stdin(Stdio::null())
        .stderr(full())
        .output()
        .expect("the engine starts");
    assert_eq!(output.status.code(), Some(2));
    let line: Value = serde_json::from_slice(&output.stdout).expect("one line");
    assert!(line["refused"]["message"].is_string(), "{line}");
}

/// NullObserver asked for too little room, so that is not refused: the machine fails.
#[test]
fn a_disk_without_room_for_the_begin_is_a_failure_and_no_refusal() {
    if !is_root() {
        return;
    }
    let (mut running, last) =
        Running::start_configured(&json!({"interface": "lo", "file": "/dev/full"}));
    assert_eq!(last["failed"]["out_of_room"], true, "{last}");
    assert_eq!(running.child.wait().expect("an end").code(), Some(3));
}
