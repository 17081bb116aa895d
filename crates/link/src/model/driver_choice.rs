//! The choice of the driver that carries a profile out.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wirelab_contract::refusal::Refusal;

use crate::model::config::{DriverChoice, LinkConfig};
use crate::model::profile::Profile;
use crate::model::way::Way;

/// The driver that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Driver {
    /// Bare veth.
    Veth,
    /// The kernel's netem on veth: not verified.
    Netem,
    /// The emulator between two TUN devices.
    Emulator,
}

impl Driver {
    /// Whether this project has measured what the driver does to packets. No
    /// kernel at hand has netem.
    #[must_use]
    pub fn verified(self) -> bool {
        match self {
            Driver::Veth | Driver::Emulator => true,
            Driver::Netem => false,
        }
    }
}

/// The driver for what was asked. `kernel_has_netem` is called only where netem
/// is named, because it changes the kernel's state to find out.
pub(crate) fn choose(
    config: &LinkConfig,
    profile: &Profile,
    kernel_has_netem: impl FnOnce() -> bool,
) -> Result<Driver, Refusal> {
    let veth = bare(config, profile);
    match config.driver {
        DriverChoice::Emulator => Ok(Driver::Emulator),
        DriverChoice::Veth => veth.map(|()| Driver::Veth),
        DriverChoice::Netem => {
            // First what netem cannot do on any kernel.
            netem_can(config, profile)?;
            match kernel_has_netem() {
                true => Ok(Driver::Netem),
                false => Err(Refusal::new(
                    "driver",
                    "this kernel has no netem",
                    "use driver emulator, or load sch_netem",
                )),
            }
        }
        DriverChoice::Auto if veth.is_ok() => Ok(Driver::Veth),
        // Never netem unasked: its effect has not been verified.
        DriverChoice::Auto => Ok(Driver::Emulator),
    }
}

/// Refuses what only the emulator can do, by the name of the option.
fn netem_can(config: &LinkConfig, profile: &Profile) -> Result<(), Refusal> {
    let refuse = |what: &str| Err(Refusal::new("driver", what, "use driver emulator"));
    if !config.drops.is_empty() {
        return refuse("netem drops no packets by script");
    }
    if config.seed.is_some() {
        return refuse("netem uses its own random numbers and takes no seed here");
    }
    let syn = [Way::Forward, Way::Backward]
        .iter()
        .any(|way| profile.direction(*way).syn_loss_percent > 0.0);
    match syn {
        true => refuse("netem cannot lose SYNs alone (syn_loss_percent)"),
        false => Ok(()),
    }
}

fn bare(config: &LinkConfig, profile: &Profile) -> Result<(), Refusal> {
    let refuse = |what: &str| Err(Refusal::new("driver", what, "use driver emulator"));
    if !profile.is_bare() {
        return refuse("veth alone changes no packet, and the profile asks for that");
    }
    match config.drops.is_empty() {
        true => Ok(()),
        false => refuse("veth drops no packet, and drops asks for that"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::{Match, ProfileChoice, ScriptedDrop};
    use crate::model::way::Way;

    fn choose_driver(name: &str, driver: DriverChoice, netem: bool) -> Result<Driver, Refusal> {
        let mut config = LinkConfig::new(ProfileChoice::Named(name.into()));
        config.driver = driver;
        choose(&config, &config.check()?, || netem)
    }

    #[test]
    fn auto_takes_the_emulator_for_more_than_a_bare_veth_on_any_kernel() {
        for kernel_has_netem in [true, false] {
            let auto = |name| choose_driver(name, DriverChoice::Auto, kernel_has_netem);
            assert_eq!(auto("lan"), Ok(Driver::Veth));
            assert_eq!(auto("wlan"), Ok(Driver::Emulator));
            assert_eq!(auto("routed-wlan"), Ok(Driver::Emulator));
        }
    }

    #[test]
    fn netem_is_taken_where_it_is_named_and_is_not_verified() {
        let driver = choose_driver("wlan", DriverChoice::Netem, true).unwrap();
        assert_eq!((driver, driver.verified()), (Driver::Netem, false));
        assert!(Driver::Veth.verified() && Driver::Emulator.verified());
    }

    #[test]
    fn what_a_named_driver_cannot_do_is_refused() {
        let rows = [
            ("wlan", DriverChoice::Veth, true),
            ("wlan", DriverChoice::Netem, false),
            ("routed-wlan", DriverChoice::Netem, true),
        ];
        for (name, driver, netem) in rows {
            assert!(
                choose_driver(name, driver, netem).is_err(),
                "{name} {driver:?}"
            );
        }
    }

    #[test]
    fn a_script_and_a_seed_go_to_the_emulator() {
        let mut config = LinkConfig::new(ProfileChoice::Named("lan".into()));
        config.drops.push(ScriptedDrop {
            direction: Way::Forward,
            kind: Match::Any,
            nth: 1,
        });
        let profile = config.check().unwrap();
        assert_eq!(choose(&config, &profile, || true), Ok(Driver::Emulator));
        config.driver = DriverChoice::Veth;
        assert_eq!(
            choose(&config, &profile, || true).unwrap_err().option,
            "driver"
        );

        let mut config = LinkConfig::new(ProfileChoice::Named("wlan".into()));
        config.seed = Some(1);
        let profile = config.check().unwrap();
        assert_eq!(choose(&config, &profile, || true), Ok(Driver::Emulator));
    }
}
