//! A link from its first command to its last.

use std::io;
use std::time::Instant;

use crate::bell::Bell;
use crate::carrier::{self, Carrier};
use crate::chance;
use crate::config::LinkConfig;
use crate::driver::choose;
use crate::ended::{Ended, Ways};
use crate::error::LinkError;
use crate::interface::{self, CLIENT, INTERFACE, MTU, SERVER, Shown, Traffic};
use crate::measuring::{self, Stop};
use crate::namespace::{self, Namespace, Pair};
use crate::profile::{Profile, ProfileDocument};
use crate::ready::{End, Measured, Ready};
use crate::{capabilities, congestion, netem, offloads, sysctl};

/// A link that packets can cross. Dropping it removes all that it made.
#[derive(Debug)]
pub struct Link {
    ready: Ready,
    from: Ways<Traffic>,
    since: Instant,
    // In this order: the devices end before the namespaces they are in.
    carrier: Carrier,
    pair: Pair,
}

impl Link {
    /// Removes what dead links left, builds this one, verifies and measures it.
    ///
    /// A process can have one link at a time: its namespaces carry the
    /// process's number.
    ///
    /// # Errors
    /// [`LinkError::Refused`] when the configuration, the privileges or the
    /// kernel do not allow it, [`LinkError::Machine`] when something failed.
    pub fn start(config: &LinkConfig) -> Result<Self, LinkError> {
        Link::start_unless(config, &|| false)
    }

    /// The same, given up as soon as `stop` says so: measuring a slow link
    /// takes its time.
    ///
    /// # Errors
    /// As [`Link::start`], and [`LinkError::Stopped`].
    pub fn start_unless(config: &LinkConfig, stop: &dyn Fn() -> bool) -> Result<Self, LinkError> {
        let profile = config.check()?;
        capabilities::check_namespaces()?;
        let swept = namespace::sweep()?;
        let seed = match config.seed {
            Some(seed) => seed,
            None => chance::fresh_seed().map_err(LinkError::while_("/dev/urandom"))?,
        };
        let pair = Pair::create()?;
        let driver = choose(config, &profile, || netem::works_in(&pair.client))?;
        let carrier = Carrier::join(driver, &pair, config)?;
        let seen = prepare(&carrier, &pair, config)?;
        let measured = measure(&carrier, &pair, config, &profile, seed, Stop(stop))?;
        carrier.arm(&profile, seed, config)?;
        let from = carrier::traffic(&pair)?;
        let ready = Ready {
            ready: true,
            pid: std::process::id(),
            name: profile.name.clone(),
            driver,
            verified: driver.verified(),
            client: end(&pair.client, CLIENT.to_string()),
            server: end(&pair.server, SERVER.to_string()),
            nominal: measuring::nominal(&profile),
            profile: written_out(profile),
            measured,
            congestion: seen.congestion,
            tcp: seen.tcp,
            offloads: "off".into(),
            mtu: MTU,
            seed,
            emulator: carrier.how(),
            swept,
        };
        Ok(Link {
            ready,
            from,
            since: Instant::now(),
            carrier,
            pair,
        })
    }

    /// What it is, and what was measured.
    #[must_use]
    pub fn ready(&self) -> &Ready {
        &self.ready
    }

    /// What it did since it was ready.
    ///
    /// # Errors
    /// When the emulator has ended, or the interfaces cannot be read.
    pub fn report(&self) -> Result<Ended, LinkError> {
        let seconds = self.since.elapsed().as_secs_f64();
        self.carrier.report(&self.pair, &self.from, seconds)
    }

    /// Runs `inside` on a thread in the client's namespace. Sockets that it
    /// makes stay there, wherever they are used.
    ///
    /// # Errors
    /// What `inside` returned, or that the namespace cannot be entered.
    pub fn in_client<T: Send>(
        &self,
        inside: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        self.pair.client.enter(inside)
    }

    /// The same in the server's namespace.
    ///
    /// # Errors
    /// As [`Link::in_client`].
    pub fn in_server<T: Send>(
        &self,
        inside: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        self.pair.server.enter(inside)
    }

    /// Rings when it is broken.
    pub(crate) fn alarm(&self) -> Option<&Bell> {
        self.carrier.alarm()
    }
}

/// Addresses, route, settings of TCP, offloads; read back and tried.
fn prepare(
    carrier: &Carrier,
    pair: &Pair,
    config: &LinkConfig,
) -> Result<congestion::Seen, LinkError> {
    for (namespace, address) in [(&pair.client, CLIENT), (&pair.server, SERVER)] {
        interface::configure(namespace, address, config)?;
        sysctl::set(namespace, config)?;
        offloads::switch_off(namespace)?;
        let shown = Shown::of(namespace)?;
        if shown.mtu != MTU {
            let error = io::Error::other(format!("{} instead of {MTU}", shown.mtu));
            return Err(LinkError::while_(format!("MTU in {namespace}"))(error));
        }
    }
    carrier.settle(pair)?;
    congestion::verify(pair, config)
}

/// Measures the bare link, lays the profile on it, and measures again.
fn measure(
    carrier: &Carrier,
    pair: &Pair,
    config: &LinkConfig,
    profile: &Profile,
    seed: u64,
    stop: Stop,
) -> Result<Measured, LinkError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::Interrupted => LinkError::Stopped,
        _ => LinkError::while_("measuring the link")(error),
    };
    let base_rtt_ms = measuring::base_rtt_ms(pair, stop).map_err(failed)?;
    carrier.lay(pair, profile, seed)?;
    measuring::measure(pair, profile, base_rtt_ms, config.measure, stop).map_err(failed)
}

fn end(namespace: &Namespace, address: String) -> End {
    End {
        namespace: namespace.name().to_owned(),
        interface: INTERFACE.to_owned(),
        address,
    }
}

fn written_out(profile: Profile) -> ProfileDocument {
    ProfileDocument {
        name: profile.name,
        both: None,
        forward: Some(profile.forward),
        backward: Some(profile.backward),
    }
}
