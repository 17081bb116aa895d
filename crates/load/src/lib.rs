//! Runs a plan over sockets: arrivals, reactor, sessions, recorder.
//!
//! Shape: a coordinator decides when the measured window opens and closes;
//! load threads, one per core, each run a reactor of their own over their
//! share of every group, so that nothing is shared on the hot path but a few
//! relaxed counters. Protocols come from `wirelab-wire` and do no I/O, so that
//! every system call and every clock reading is made here, alike for all.

#![deny(missing_docs)]

mod alarm;
mod any_session;
pub mod arrivals;
mod body;
mod call_log;
mod calls;
mod clock;
mod connection;
mod connections;
mod events;
mod fault;
mod form;
mod forward;
mod group;
mod head;
mod judge;
mod legality;
mod maker;
mod object;
mod outcome;
mod patience;
pub mod plan;
mod poll;
mod process;
mod quota;
mod recorder;
mod reply;
mod report;
pub mod result;
mod run;
mod script;
mod sequences;
mod shared;
mod single;
mod socket;
mod speaks;
mod spec;
mod stamps;
mod step;
pub mod target;
mod tls;
mod tls_files;
mod tokens;
mod users;
mod waiter;
mod warmup;
mod worker;
mod workload;

pub use clock::now_ns;
pub use run::run;
pub use single::{Heard, Single};
pub use workload::{Prepared, prepare};
