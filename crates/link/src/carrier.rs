//! The driver at work, one interface for all three.

use std::sync::Arc;

use crate::bell::Bell;
use crate::config::LinkConfig;
use crate::driver::Driver;
use crate::emulator::{Emulator, Shape};
use crate::ended::{Ended, Ways};
use crate::error::LinkError;
use crate::interface::{Shown, Traffic};
use crate::namespace::Pair;
use crate::profile::Profile;
use crate::ready;
use crate::{capabilities, netem, scheduling, tun, veth};

/// What lies between the two namespaces.
#[derive(Debug)]
pub(crate) enum Carrier {
    Veth,
    Netem,
    Emulator(Emulator),
}

impl Carrier {
    /// Makes the interfaces, joined, with no profile on them yet.
    pub(crate) fn join(
        driver: Driver,
        pair: &Pair,
        config: &LinkConfig,
    ) -> Result<Self, LinkError> {
        if driver != Driver::Emulator {
            veth::join(pair)?;
            return Ok(match driver {
                Driver::Netem => Carrier::Netem,
                _ => Carrier::Veth,
            });
        }
        capabilities::check_tun()?;
        scheduling::check(&config.cores)?;
        let (client, server) = (tun::create(&pair.client)?, tun::create(&pair.server)?);
        let failed = || LinkError::while_("starting the emulator");
        let alarm = Arc::new(Bell::new().map_err(failed())?);
        Emulator::start(client, server, &config.cores, alarm)
            .map(Carrier::Emulator)
            .map_err(failed())
    }

    /// Finishes the interfaces once they have their addresses.
    pub(crate) fn settle(&self, pair: &Pair) -> Result<(), LinkError> {
        match self {
            Carrier::Veth | Carrier::Netem => veth::introduce(pair),
            Carrier::Emulator(_) => Ok(()),
        }
    }

    /// Lays a profile on the link for the first time.
    pub(crate) fn lay(&self, pair: &Pair, profile: &Profile, seed: u64) -> Result<(), LinkError> {
        match self {
            Carrier::Veth => Ok(()),
            Carrier::Netem => netem::lay(pair, profile),
            Carrier::Emulator(emulator) => begin(emulator, profile, seed, &[]),
        }
    }

    /// Begins anew for the trial: the first of the seed's random numbers, the
    /// script's first packet, counts of zero.
    pub(crate) fn arm(
        &self,
        profile: &Profile,
        seed: u64,
        config: &LinkConfig,
    ) -> Result<(), LinkError> {
        match self {
            Carrier::Veth | Carrier::Netem => Ok(()),
            Carrier::Emulator(emulator) => begin(emulator, profile, seed, &config.drops),
        }
    }

    /// What was done since it was armed, when the interfaces stood at `from`.
    pub(crate) fn report(
        &self,
        pair: &Pair,
        from: &Ways<Traffic>,
        seconds: f64,
    ) -> Result<Ended, LinkError> {
        let traffic = traffic(pair)?;
        let device_drops = device_drops(from, &traffic);
        let mut ended = match self {
            Carrier::Veth | Carrier::Netem => counted_by_devices(from, &traffic, seconds),
            Carrier::Emulator(emulator) => emulator
                .report(seconds)
                .map_err(LinkError::while_("asking the emulator"))?,
        };
        ended.device_drops = device_drops;
        Ok(ended)
    }

    pub(crate) fn how(&self) -> Option<ready::Emulator> {
        match self {
            Carrier::Emulator(emulator) => Some(emulator.how().clone()),
            _ => None,
        }
    }

    /// Rings when the link is broken.
    pub(crate) fn alarm(&self) -> Option<&Bell> {
        match self {
            Carrier::Emulator(emulator) => Some(emulator.alarm()),
            _ => None,
        }
    }
}

fn begin(
    emulator: &Emulator,
    profile: &Profile,
    seed: u64,
    drops: &[crate::script::ScriptedDrop],
) -> Result<(), LinkError> {
    let shape = Shape {
        profile: profile.clone(),
        seed,
        drops: drops.to_vec(),
    };
    emulator
        .begin(shape)
        .map_err(LinkError::while_("shaping the link"))
}

/// Where the interfaces stand: what each sent.
pub(crate) fn traffic(pair: &Pair) -> Result<Ways<Traffic>, LinkError> {
    Ok(Ways {
        forward: Shown::of(&pair.client)?.traffic(),
        backward: Shown::of(&pair.server)?.traffic(),
    })
}

/// Forward packets are unsent at the client's end or undelivered at the server's.
fn device_drops(from: &Ways<Traffic>, to: &Ways<Traffic>) -> Ways<u64> {
    let (client, server) = (
        since(&from.forward, &to.forward),
        since(&from.backward, &to.backward),
    );
    Ways {
        forward: client.unsent + server.undelivered,
        backward: server.unsent + client.undelivered,
    }
}

fn since(from: &Traffic, to: &Traffic) -> Traffic {
    Traffic {
        packets: to.packets - from.packets,
        bytes: to.bytes - from.bytes,
        unsent: to.unsent - from.unsent,
        undelivered: to.undelivered - from.undelivered,
    }
}

fn counted_by_devices(from: &Ways<Traffic>, to: &Ways<Traffic>, seconds: f64) -> Ended {
    let (forward, backward) = (
        since(&from.forward, &to.forward),
        since(&from.backward, &to.backward),
    );
    Ended {
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
