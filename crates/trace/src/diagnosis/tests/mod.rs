//! Conversations written by hand, and what is found in them.

mod http2;
mod openings;
mod properties;
mod retransmissions;
mod think_time;
pub(super) mod timeline;
mod waits;
mod windows;
mod writes;

use crate::diagnosis::{Cause, Finding};

fn of(findings: &[Finding], cause: Cause) -> Option<&Finding> {
    findings.iter().find(|finding| finding.cause == cause)
}

fn causes(findings: &[Finding]) -> Vec<Cause> {
    let mut causes: Vec<Cause> = findings.iter().map(|finding| finding.cause).collect();
    causes.sort_unstable();
    causes
}
