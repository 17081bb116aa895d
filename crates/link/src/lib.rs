//! The network between a caller and a service: two network namespaces, fresh
//! for every start, and what lies between them.
//!
//! Shape: what happens to a packet is decided by [`Shaper`], which does no
//! I/O: a packet goes in at a time, a fate comes out. Three drivers carry it
//! out: bare veth, the kernel's netem on veth, and an emulator of our own
//! between two TUN devices, which runs everywhere. [`Link`] builds one of them,
//! verifies what it set, measures it, and removes all of it again; the process
//! around it is [`link_from_stdin`] (docs/reference/process.md, "A link is a
//! process").

#![deny(missing_docs)]

mod bell;
mod bottleneck;
mod capabilities;
mod carrier;
mod catalogue;
mod chance;
mod clock;
mod command;
mod config;
mod congestion;
mod deadlines;
mod delay;
mod driver;
mod emulator;
mod ended;
mod error;
mod interface;
mod lane;
mod lateness;
mod link;
mod loss;
mod measuring;
mod namespace;
mod netem;
mod offloads;
mod orders;
mod process;
mod profile;
mod ready;
mod scheduling;
mod script;
mod segment;
mod shaper;
mod slots;
mod sysctl;
mod tun;
mod veth;

use wirelab_contract::refusal;

pub use catalogue::{NAMES, named};
pub use config::{AfterIdle, Congestion, DriverChoice, LinkConfig, Measure, ProfileChoice};
pub use driver::Driver;
pub use ended::{Dropped, Ended, Lateness, LinkEnded, Syns, TcpFields, Ways};
pub use error::LinkError;
pub use link::Link;
pub use process::link_from_stdin;
pub use profile::{Direction, Distribution, LossModel, Profile, ProfileDocument, Way};
pub use ready::{
    CongestionSeen, Emulator, End, LossMeasured, Measured, Nominal, Proportion, Ready, Rtt, TcpEnd,
    TcpSeen,
};
pub use refusal::{Refusal, Refused};
pub use script::{Match, ScriptedDrop};
pub use shaper::{Fate, Shaper};
