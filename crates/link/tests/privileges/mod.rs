//! What the tests of links need from the machine.

#[path = "../../../contract/tests/skipped/mod.rs"]
mod skipped;

use std::fs::OpenOptions;
use std::process::Command;

pub use skipped::report_skip;

/// Whether this is root.
pub fn root() -> bool {
    rustix::process::geteuid().is_root()
}

/// True, with a printed reason, when the machine gives no links.
pub fn are_missing() -> bool {
    let tun = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/net/tun");
    let reason = if !root() {
        "not root"
    } else if tun.is_err() {
        "/dev/net/tun cannot be opened"
    } else if Command::new("ip").arg("-V").output().is_err() {
        "the command ip (iproute2) is missing"
    } else {
        return false;
    };
    report_skip(reason);
    true
}
