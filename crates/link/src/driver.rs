//! The running driver: veth, netem or the emulator behind one interface.

use std::sync::Arc;

use crate::emulator::threads::{Emulator, Shape};
use crate::error::LinkError;
use crate::kernel::eventfd::EventFd;
use crate::kernel::interface::{InterfaceStatus, Traffic};
use crate::kernel::namespace::Pair;
use crate::kernel::{netem, scheduling, tun, veth};
use crate::model::config::{LinkConfig, ScriptedDrop};
use crate::model::driver_choice::Driver;
use crate::model::profile::Profile;
use crate::model::ready;
use crate::model::summary::LinkSummary;
use crate::model::way::Ways;

#[derive(Debug)]
pub(crate) enum RunningDriver {
    Veth,
    Netem,
    Emulator(Emulator),
}

impl RunningDriver {
    /// Makes and joins the interfaces, without a profile.
    pub(crate) fn join(
        driver: Driver,
        pair: &Pair,
        config: &LinkConfig,
    ) -> Result<Self, LinkError> {
        if driver != Driver::Emulator {
            veth::join(pair)?;
            return Ok(match driver {
                Driver::Netem => RunningDriver::Netem,
                _ => RunningDriver::Veth,
            });
        }
        tun::check()?;
        // Refused before any device exists.
        scheduling::check_cores(&config.cores)?;
        let (client, server) = (tun::create(&pair.client)?, tun::create(&pair.server)?);
        let failed = || LinkError::during("starting the emulator");
        let failure = Arc::new(EventFd::new().map_err(failed())?);
        Emulator::start(client, server, &config.cores, failure)
            .map(RunningDriver::Emulator)
            .map_err(failed())
    }

    /// To be called when the interfaces have their addresses.
    pub(crate) fn set_neighbours(&self, pair: &Pair) -> Result<(), LinkError> {
        match self {
            RunningDriver::Veth | RunningDriver::Netem => veth::set_neighbours(pair),
            // A TUN device has no link layer, and so no ARP.
            RunningDriver::Emulator(_) => Ok(()),
        }
    }

    pub(crate) fn apply_profile(
        &self,
        pair: &Pair,
        profile: &Profile,
        seed: u64,
    ) -> Result<(), LinkError> {
        match self {
            RunningDriver::Veth => Ok(()),
            RunningDriver::Netem => netem::apply_profile(pair, profile),
            RunningDriver::Emulator(emulator) => begin(emulator, profile, seed, &[]),
        }
    }

    /// Starts again for the trial: the first of the seed's random numbers, the
    /// script's first packet, counts of zero.
    pub(crate) fn start_trial(
        &self,
        profile: &Profile,
        seed: u64,
        config: &LinkConfig,
    ) -> Result<(), LinkError> {
        match self {
            // Neither takes a seed, and their counters are those of the devices.
            RunningDriver::Veth | RunningDriver::Netem => Ok(()),
            RunningDriver::Emulator(emulator) => begin(emulator, profile, seed, &config.drops),
        }
    }

    /// What was counted since the start of the trial, when the counters of the interfaces were `from`.
    pub(crate) fn report(
        &self,
        pair: &Pair,
        from: &Ways<Traffic>,
        seconds: f64,
    ) -> Result<LinkSummary, LinkError> {
        let traffic = traffic(pair)?;
        let device_drops = device_drops(from, &traffic);
        let mut summary = match self {
            RunningDriver::Veth | RunningDriver::Netem => {
                summarize_devices(from, &traffic, seconds)
            }
            RunningDriver::Emulator(emulator) => emulator
                .report(seconds)
                .map_err(LinkError::during("asking the emulator"))?,
        };
        summary.device_drops = device_drops;
        Ok(summary)
    }

    pub(crate) fn description(&self) -> Option<ready::Emulator> {
        match self {
            RunningDriver::Emulator(emulator) => Some(emulator.description().clone()),
            _ => None,
        }
    }

    /// Notified when the link is broken.
    pub(crate) fn failure(&self) -> Option<&EventFd> {
        match self {
            RunningDriver::Emulator(emulator) => Some(emulator.failure()),
            _ => None,
        }
    }
}

fn begin(
    emulator: &Emulator,
    profile: &Profile,
    seed: u64,
    drops: &[ScriptedDrop],
) -> Result<(), LinkError> {
    let shape = Shape {
        profile: profile.clone(),
        seed,
        drops: drops.to_vec(),
    };
    emulator
        .begin(shape)
        .map_err(LinkError::during("shaping the link"))
}

/// The counters of both interfaces.
pub(crate) fn traffic(pair: &Pair) -> Result<Ways<Traffic>, LinkError> {
    Ok(Ways {
        forward: InterfaceStatus::of(&pair.client)?.traffic(),
        backward: InterfaceStatus::of(&pair.server)?.traffic(),
    })
}

/// Forward packets are unsent at the client's end or undelivered at the server's.
fn device_drops(from: &Ways<Traffic>, to: &Ways<Traffic>) -> Ways<u64> {
    let (client, server) = (
        to.forward.difference(&from.forward),
        to.backward.difference(&from.backward),
    );
    Ways {
        forward: client.unsent + server.undelivered,
        backward: server.unsent + client.undelivered,
    }
}

fn summarize_devices(from: &Ways<Traffic>, to: &Ways<Traffic>, seconds: f64) -> LinkSummary {
    let (forward, backward) = (
        to.forward.difference(&from.forward),
        to.backward.difference(&from.backward),
    );
    LinkSummary {
        packets: Ways {
            forward: forward.packets,
            backward: backward.packets,
        },
        bytes: Ways {
            forward: forward.bytes,
            backward: backward.bytes,
        },
        lost: None,
        syns: None,
        queue_drops: None,
        duplicated: None,
        corrupted: None,
        reordered: None,
        device_drops: Ways::default(),
        lateness_us: None,
        cpu_s: None,
        seconds,
        dropped: Vec::new(),
    }
}
