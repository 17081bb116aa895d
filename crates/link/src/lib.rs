//! The network between a caller and a service: two network namespaces, fresh
//! for every start, and what lies between them.
//!
//! - `model`: the configuration of a link and what it reports, without I/O: profiles,
//!   configuration, scripted drops, the documents of docs/reference/process.md.
//! - `kernel`: namespaces, veth, netem, TUN devices, sysctl, offloads, and the few
//!   system calls.
//! - `emulator`: the emulator between two TUN devices, which runs on every kernel.
//!   [`Shaper`] decides what happens to a packet and does no I/O.
//! - `probe`: what the link really does, measured before it is ready.
//! - `driver`: veth, netem or the emulator at work. [`Link`] builds one of them,
//!   verifies what it set, measures it, and removes all of it again.
//! - `process`, `control`: the process around a link, [`link_from_stdin`].

#![deny(missing_docs)]

mod control;
mod driver;
mod emulator;
mod error;
mod kernel;
mod link;
mod model;
mod probe;
mod process;

pub use emulator::shaper::{Fate, Shaper};
pub use error::LinkError;
pub use link::Link;
pub use model::config::{
    AfterIdle, Congestion, DriverChoice, LinkConfig, Match, Measure, ProfileChoice, ScriptedDrop,
};
pub use model::distribution::Distribution;
pub use model::driver_choice::Driver;
pub use model::profile::{Direction, LossModel, Profile, ProfileDocument};
pub use model::profiles::{NAMES, find_profile};
pub use model::ready::{
    CongestionSeen, Emulator, End, LossMeasured, Measured, Nominal, Proportion, Ready, Rtt, TcpEnd,
    TcpSeen,
};
pub use model::summary::{Dropped, Lateness, LinkEnded, LinkSummary, Syns, TcpFields};
pub use model::way::{Way, Ways};
pub use process::link_from_stdin;
pub use wirelab_contract::refusal::{Refusal, Refused};
