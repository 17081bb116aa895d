//! The process of a link, from its configuration to the removal of its namespaces. As root; else
//! skipped with a printed reason.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::privileges;

/// Only a hang takes as long; everything here takes far less.
const TIMEOUT: Duration = Duration::from_secs(60);

fn binary() -> Command {
    Command::new(env!("CARGO_BIN_EXE_wirelab-link"))
}

/// A link's process.
struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn spawn(config: &Value) -> Process {
        let mut child = binary()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut input = child.stdin.take().expect("standard input");
        writeln!(input, "{config}").expect("the configuration is taken");
        let output = BufReader::new(child.stdout.take().expect("standard output"));
        Process {
            child,
            input: Some(input),
            output,
        }
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"))
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn signal(&self, signal: Signal) {
        // The child has not been waited for, so its process id is still its own.
        kill_process(Pid::from_child(&self.child), signal).expect("the signal is sent");
    }

    /// Waits for the end: its exit code.
    fn ended(&mut self) -> Option<i32> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status.code();
            }
            assert!(Instant::now() < deadline, "the process does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // After a failed assertion: its end sweeps what it made.
        drop(self.input.take());
        if !std::thread::panicking() {
            self.ended();
        }
    }
}

fn namespaces(pid: u32) -> Vec<bool> {
    ["c", "s"]
        .map(|side| Path::new(&format!("/run/netns/wl-{pid}-{side}")).exists())
        .to_vec()
}

fn quick(profile: &str) -> Value {
    json!({"profile": profile, "measure": {"pings": 5}})
}

#[test]
fn a_ready_line_has_the_configuration_and_the_measurement() {
    if privileges::are_missing() {
        return;
    }
    let mut link = Process::spawn(&json!({"profile": "wlan", "driver": "emulator", "seed": 9}));
    let ready = link.line();
    let pid = link.pid();
    assert_eq!(ready["ready"], true);
    assert_eq!(ready["pid"], pid);
    assert_eq!(
        (&ready["name"], &ready["driver"]),
        (&json!("wlan"), &json!("emulator"))
    );
    let end = |side: &str, address: &str| json!({"namespace": format!("wl-{pid}-{side}"), "interface": "wl0", "address": address});
    assert_eq!(ready["client"], end("c", "198.18.0.1"));
    assert_eq!(ready["server"], end("s", "198.18.0.2"));
    assert_eq!(
        ready["congestion"],
        json!({"client": "cubic", "server": "cubic"})
    );
    assert_eq!(
        (&ready["offloads"], &ready["mtu"]),
        (&json!("off"), &json!(1500))
    );
    assert_eq!(
        (&ready["seed"], &ready["nominal"]["rtt_ms"]),
        (&json!(9), &json!(2.5))
    );
    let rtt = &ready["measured"]["rtt_ms"];
    assert_eq!((&rtt["n"], &rtt["lost"]), (&json!(50), &json!(0)));
    assert!(rtt["min"].as_f64() >= Some(2.5), "{rtt}");
    // Under any load one of fifty comes through in time.
    assert!(rtt["min"].as_f64() < Some(10.0), "{rtt}");
    assert_eq!(ready["measured"]["loss_percent"], Value::Null);
    for side in ["client", "server"] {
        let tcp = &ready["tcp"][side];
        assert_eq!(tcp["after_idle"], "restart", "{tcp}");
        // RFC 6928, unless the machine was given another route.
        assert_eq!(tcp["initial_window"], 10, "{tcp}");
    }
}

#[test]
fn a_dead_link_reports_that_nothing_came_back() {
    if privileges::are_missing() {
        return;
    }
    let mut link = Process::spawn(&json!({
        "profile": {"name": "dead", "both": {
            "delay_ms": 1, "rate_kbit": 1000, "loss": {"kind": "random", "percent": 100},
        }},
        "measure": {"pings": 5, "loss_packets": 50, "rate": true},
    }));
    let measured = link.line()["measured"].clone();
    assert_eq!(
        (&measured["rtt_ms"]["n"], &measured["rtt_ms"]["lost"]),
        (&json!(0), &json!(5))
    );
    assert_eq!(measured["loss_percent"]["value"], 100.0);
    assert_eq!(measured["rate_kbit"], Value::Null);
}

#[test]
fn nothing_is_left_however_it_is_stopped() {
    if privileges::are_missing() {
        return;
    }
    type Stopping = fn(&mut Process);
    let ways: [(&str, Stopping); 3] = [
        ("end of input", |link| drop(link.input.take())),
        ("SIGTERM", |link| link.signal(Signal::TERM)),
        ("SIGINT", |link| link.signal(Signal::INT)),
    ];
    for (profile, driver) in [("lan", "veth"), ("wlan", "emulator")] {
        for (name, stop) in ways {
            let mut link = Process::spawn(&quick(profile));
            let ready = link.line();
            assert_eq!(ready["driver"], driver);
            let pid = link.pid();
            assert_eq!(namespaces(pid), [true, true], "{name}");
            stop(&mut link);
            assert_eq!(link.ended(), Some(0), "{name}");
            let ended = link.line();
            assert!(ended["link"]["packets"]["forward"].is_u64(), "{ended}");
            assert_eq!(namespaces(pid), [false, false], "{name}");
        }
    }
}

#[test]
fn it_can_be_stopped_while_it_still_measures() {
    if privileges::are_missing() {
        return;
    }
    // A million probes, 50 ms apart at the rate of the profile: 14 hours.
    let hours = json!({"profile": "gprs", "measure": {"loss_packets": 1_000_000}});
    let mut link = Process::spawn(&hours);
    let deadline = Instant::now() + TIMEOUT;
    while namespaces(link.pid()) != [true, true] {
        assert!(Instant::now() < deadline, "it makes no namespaces");
        std::thread::sleep(Duration::from_millis(10));
    }
    link.signal(Signal::TERM);
    assert_eq!(link.ended(), Some(0));
    assert_eq!(namespaces(link.pid()), [false, false]);
}

#[test]
fn the_next_start_removes_what_a_killed_link_left() {
    if privileges::are_missing() {
        return;
    }
    let mut killed = Process::spawn(&quick("wlan"));
    killed.line();
    let pid = killed.pid();
    killed.signal(Signal::KILL);
    // Ended by a signal: there is no exit code.
    assert_eq!(killed.ended(), None);
    let mut next = Process::spawn(&quick("lan"));
    next.line();
    // This start removed them, or one of a test that runs at the same time.
    assert_eq!(namespaces(pid), [false, false]);
    assert_eq!(namespaces(next.pid()), [true, true]);
}

#[test]
fn counts_are_printed_on_request() {
    if privileges::are_missing() {
        return;
    }
    let mut link = Process::spawn(&quick("wlan"));
    link.line();
    // By both ways that docs/reference/process.md names.
    writeln!(link.input.as_mut().expect("open"), "stats").expect("taken");
    let by_line = link.line();
    link.signal(Signal::USR1);
    let by_signal = link.line();
    for counts in [&by_line, &by_signal] {
        assert!(counts["link"]["lateness_us"]["p99"].is_f64(), "{counts}");
    }
    assert!(by_signal["link"]["seconds"].as_f64() >= by_line["link"]["seconds"].as_f64());
}

#[test]
fn a_process_in_the_namespaces_reaches_the_other_end() {
    if privileges::are_missing() {
        return;
    }
    let mut link = Process::spawn(&quick("lan"));
    let namespace = link.line()["client"]["namespace"].clone();
    let shown = Command::new("ip")
        .args(["netns", "exec", namespace.as_str().expect("a name")])
        .args(["ip", "route", "get", "198.18.0.2"])
        .output()
        .expect("ip runs");
    let text = String::from_utf8_lossy(&shown.stdout);
    assert!(text.contains("dev wl0 src 198.18.0.1"), "{text}");
}

/// What a configuration is answered with, and the exit code.
fn answer(mut command: Command, line: &str) -> (Value, Option<i32>) {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let mut input = child.stdin.take().expect("standard input");
    writeln!(input, "{line}").expect("the configuration is taken");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    (value, output.status.code())
}

#[test]
fn a_refusal_names_the_option_and_the_remedy() {
    let (refused, code) = answer(binary(), r#"{"profile":"loopback"}"#);
    assert_eq!(code, Some(2));
    assert_eq!(refused["refused"]["option"], "profile");
    let (refused, code) = answer(binary(), "");
    assert_eq!(
        (code, refused["refused"]["message"].is_string()),
        (Some(2), true)
    );
}

#[test]
fn without_privileges_what_is_missing_is_named() {
    // A copy, because the folder of the build may be readable by root alone.
    let folder = std::env::temp_dir().join(format!("wirelab-link-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let copy = folder.join("wirelab-link");
    std::fs::copy(env!("CARGO_BIN_EXE_wirelab-link"), &copy).expect("a copy");
    let mut command = Command::new(&copy);
    if privileges::root() {
        // nobody and nogroup.
        command.uid(65_534).gid(65_534);
    }
    let (refused, code) = answer(command, r#"{"profile":"wlan"}"#);
    std::fs::remove_dir_all(&folder).expect("removed");
    assert_eq!(code, Some(2));
    let refusal = &refused["refused"];
    assert!(
        refusal["message"]
            .as_str()
            .is_some_and(|text| text.contains("CAP_NET_ADMIN"))
    );
    assert!(
        refusal["remedy"]
            .as_str()
            .is_some_and(|text| text.contains("loopback"))
    );
}

#[test]
fn without_iproute2_its_package_is_named() {
    if privileges::are_missing() {
        return;
    }
    let mut command = binary();
    command.env("PATH", "/nonexistent");
    let (refused, code) = answer(command, r#"{"profile":"wlan"}"#);
    assert_eq!(code, Some(2));
    let remedy = refused["refused"]["remedy"].as_str().expect("a remedy");
    assert!(remedy.contains("apt-get install iproute2"), "{remedy}");
}
