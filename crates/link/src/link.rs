//! A link from its first command to its removal.

use std::io;
use std::time::Instant;

use crate::driver::{self, RunningDriver};
use crate::emulator::rng::random_seed;
use crate::error::LinkError;
use crate::kernel::eventfd::EventFd;
use crate::kernel::interface::{self, CLIENT, INTERFACE, InterfaceStatus, SERVER, Traffic};
use crate::kernel::namespace::{self, Namespace, Pair};
use crate::kernel::{capabilities, netem, offloads, sysctl};
use crate::model::config::LinkConfig;
use crate::model::driver_choice::choose;
use crate::model::profile::{MTU, Profile, ProfileDocument};
use crate::model::ready::{End, Measured, Ready};
use crate::model::summary::LinkSummary;
use crate::model::way::Ways;
use crate::probe::stop::StopCheck;
use crate::probe::{measure, tcp};

/// A link that packets can cross. Dropping it removes all that it made.
#[derive(Debug)]
pub struct Link {
    ready: Ready,
    from: Ways<Traffic>,
    since: Instant,
    // In this order: the devices end before the namespaces they are in.
    driver: RunningDriver,
    pair: Pair,
}

impl Link {
    /// Removes the namespaces of links that ended without cleaning up, builds this one, verifies and measures it.
    ///
    /// A process can have one link at a time: its namespaces carry the process id.
    ///
    /// # Errors
    /// [`LinkError::Refused`] when the configuration, the privileges or the
    /// kernel do not allow it, [`LinkError::Machine`] when something failed.
    pub fn start(config: &LinkConfig) -> Result<Self, LinkError> {
        Link::start_unless(config, &|| false)
    }

    /// The same, abandoned as soon as `stop` returns true: measuring a slow link can
    /// take minutes.
    ///
    /// # Errors
    /// As [`Link::start`], and [`LinkError::Stopped`].
    pub fn start_unless(config: &LinkConfig, stop: &dyn Fn() -> bool) -> Result<Self, LinkError> {
        let profile = config.check()?;
        // Before anything is removed or made.
        capabilities::check_namespaces()?;
        let removed_namespaces = namespace::remove_stale()?;
        let seed = match config.seed {
            Some(seed) => seed,
            None => random_seed().map_err(LinkError::during("/dev/urandom"))?,
        };
        // Before the driver is chosen: whether there is netem is tried inside a namespace.
        let pair = Pair::create()?;
        let driver = choose(config, &profile, || netem::works_in(&pair.client))?;
        let running = RunningDriver::join(driver, &pair, config)?;
        let seen = prepare(&running, &pair, config)?;
        let measured = apply_and_measure(&running, &pair, config, &profile, seed, StopCheck(stop))?;
        // Measuring used random numbers and counters; the trial begins at the first of both.
        running.start_trial(&profile, seed, config)?;
        // The devices cannot be set to zero; their earlier counts are subtracted.
        let from = driver::traffic(&pair)?;
        let ready = Ready {
            ready: true,
            pid: std::process::id(),
            name: profile.name.clone(),
            driver,
            verified: driver.verified(),
            client: end(&pair.client, CLIENT.to_string()),
            server: end(&pair.server, SERVER.to_string()),
            nominal: measure::nominal(&profile),
            profile: document(profile),
            measured,
            congestion: seen.congestion,
            tcp: seen.tcp,
            offloads: "off".into(),
            mtu: MTU,
            seed,
            emulator: running.description(),
            removed_namespaces,
        };
        Ok(Link {
            ready,
            from,
            since: Instant::now(),
            driver: running,
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
    pub fn report(&self) -> Result<LinkSummary, LinkError> {
        let seconds = self.since.elapsed().as_secs_f64();
        self.driver.report(&self.pair, &self.from, seconds)
    }

    /// Runs `inside` on a thread in the client's namespace. Sockets that it
    /// makes stay there, wherever they are used.
    ///
    /// # Errors
    /// What `inside` returned, or that the namespace cannot be entered.
    pub fn run_in_client<T: Send>(
        &self,
        inside: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        self.pair.client.enter(inside)
    }

    /// The same in the server's namespace.
    ///
    /// # Errors
    /// As [`Link::in_client`].
    pub fn run_in_server<T: Send>(
        &self,
        inside: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        self.pair.server.enter(inside)
    }

    /// Notified when the link is broken.
    pub(crate) fn failure(&self) -> Option<&EventFd> {
        self.driver.failure()
    }
}

/// Sets addresses, route, TCP settings and offloads; reads them back and verifies them
/// by a connection.
fn prepare(
    driver: &RunningDriver,
    pair: &Pair,
    config: &LinkConfig,
) -> Result<tcp::TcpState, LinkError> {
    for (namespace, address) in [(&pair.client, CLIENT), (&pair.server, SERVER)] {
        interface::configure(namespace, address, config)?;
        sysctl::set(namespace, config)?;
        offloads::switch_off(namespace)?;
        let status = InterfaceStatus::of(namespace)?;
        if status.mtu != MTU {
            let error = io::Error::other(format!("{} instead of {MTU}", status.mtu));
            return Err(LinkError::during(format!("MTU in {namespace}"))(error));
        }
    }
    // After both addresses: a neighbour needs an interface that is up.
    driver.set_neighbours(pair)?;
    tcp::verify(pair, config)
}

/// Measures the bare link, applies the profile, and measures again.
fn apply_and_measure(
    driver: &RunningDriver,
    pair: &Pair,
    config: &LinkConfig,
    profile: &Profile,
    seed: u64,
    stop: StopCheck,
) -> Result<Measured, LinkError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::Interrupted => LinkError::Stopped,
        _ => LinkError::during("measuring the link")(error),
    };
    let base_rtt_ms = measure::base_rtt_ms(pair, stop).map_err(failed)?;
    driver.apply_profile(pair, profile, seed)?;
    measure::measure(pair, profile, base_rtt_ms, config.measure, stop).map_err(failed)
}

fn end(namespace: &Namespace, address: String) -> End {
    End {
        namespace: namespace.name().to_owned(),
        interface: INTERFACE.to_owned(),
        address,
    }
}

fn document(profile: Profile) -> ProfileDocument {
    ProfileDocument {
        name: profile.name,
        both: None,
        forward: Some(profile.forward),
        backward: Some(profile.backward),
    }
}
