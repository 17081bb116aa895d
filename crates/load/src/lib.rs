//! Runs a plan over sockets: arrivals, reactor, sessions, recorder.
//!
//! Shape: a coordinator decides when the measured window opens and closes;
//! load threads, one per core, each run a reactor of their own over their
//! share of every group, so that nothing is shared on the hot path but a few
//! relaxed counters. Protocols come from `wirelab-wire` and do no I/O, so that
//! every system call and every clock reading is made here, alike for all.
//!
//! Folders import only those to their left: `call`, `plan`, `schedule`, `reactor`,
//! `connection`, `request`, `validate`, `record`, `group`, `run`. The list that is checked is in
//! Cargo.toml.

#![deny(missing_docs)]

mod call;
mod connection;
mod group;
pub mod plan;
mod reactor;
mod record;
mod request;
mod run;
mod schedule;
mod validate;

pub use call::clock::now_ns;
pub use call::result;
pub use group::prepared::Prepared;
pub use group::workload::prepare;
pub use plan::target;
pub use record::caller;
pub use record::merge::merge;
pub use run::run;
pub use run::single::{RawResponse, Single};
pub use schedule::arrivals;
pub use validate::json_library;
