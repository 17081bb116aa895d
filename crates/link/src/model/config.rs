//! The configuration of a link: one JSON object on standard input.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use wirelab_contract::refusal::Refusal;

use crate::model::profile::{Profile, ProfileDocument};
use crate::model::profiles::{self, NAMES};
use crate::model::way::Way;

/// Scripted drops that one link may have.
const DROPS_MAX: usize = 10_000;

/// Largest initial congestion window, segments.
const INITCWND_MAX: u32 = 1_000;

/// Most pings or loss probes before a link is ready.
const PROBES_MAX: u32 = 1_000_000;

/// The configuration of a link.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// A name (`lan`, `wlan`, `mobile`, `wan`, `routed-wlan`, `gprs`) or an own profile.
    pub profile: ProfileChoice,
    /// Who carries the profile out.
    #[serde(default)]
    pub driver: DriverChoice,
    /// Congestion control of every connection, set by route at both ends.
    #[serde(default)]
    pub congestion: Congestion,
    /// Route attribute quickack at both ends: every segment is acknowledged at once.
    #[serde(default)]
    pub quickack: bool,
    /// Route attribute initcwnd at both ends, segments; null: the kernel's.
    /// Receive buffers grow with it, where they would be the limit.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = INITCWND_MAX)))]
    pub initcwnd: Option<u32>,
    /// What a pause does to congestion windows, at both ends.
    #[serde(default)]
    pub after_idle: AfterIdle,
    /// Cores of the emulator: none leaves it to the kernel, one gives one
    /// thread, two give each direction a thread of its own.
    #[serde(default)]
    pub cores: Vec<usize>,
    /// What is measured before the link is ready.
    #[serde(default)]
    pub measure: Measure,
    /// Packets to be dropped, for tests; only the emulator can.
    #[serde(default)]
    pub drops: Vec<ScriptedDrop>,
    /// Seed of all chance, at most 2^53; null: a fresh one, reported in the ready line.
    #[serde(default)]
    pub seed: Option<u64>,
}

/// A profile by its name, or written out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum ProfileChoice {
    /// One of [`NAMES`].
    Named(String),
    /// An own one.
    Own(Box<ProfileDocument>),
}

impl<'de> Deserialize<'de> for ProfileChoice {
    /// Not serde's own untagged reading: that would not say what is wrong
    /// with an own profile.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::String(name) => Ok(ProfileChoice::Named(name)),
            other => serde_path_to_error::deserialize(other)
                .map(ProfileChoice::Own)
                .map_err(serde::de::Error::custom),
        }
    }
}

/// Who carries a profile out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DriverChoice {
    /// veth for a profile that does nothing; else the emulator.
    #[default]
    Auto,
    /// Bare veth.
    Veth,
    /// The kernel's netem on veth: not verified, its effect has never been
    /// measured by this project.
    Netem,
    /// The emulator between two TUN devices.
    Emulator,
}

/// TCP congestion control.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Congestion {
    /// RFC 9438.
    #[default]
    Cubic,
    /// RFC 5681.
    Reno,
    /// Cardwell et al. 2016.
    Bbr,
}

impl Congestion {
    /// The kernel's name of it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Congestion::Cubic => "cubic",
            Congestion::Reno => "reno",
            Congestion::Bbr => "bbr",
        }
    }
}

/// What a pause longer than the retransmission timeout does to a congestion
/// window (RFC 2861; net.ipv4.tcp_slow_start_after_idle).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AfterIdle {
    /// It is halved for every timeout of the pause, down to the initial window:
    /// what Linux does by itself.
    #[default]
    Restart,
    /// It stays.
    Keep,
}

/// What is measured before a link is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Measure {
    /// Round trips, from 1.
    pub pings: u32,
    /// Packets by which loss is measured; 0: not at all.
    pub loss_packets: u32,
    /// Whether the rate is measured, about a second per direction.
    pub rate: bool,
}

impl Default for Measure {
    fn default() -> Self {
        Measure {
            pings: 50,
            loss_packets: 0,
            rate: false,
        }
    }
}

/// Which packets a scripted drop counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Match {
    /// TCP segments with SYN, SYN-ACK included.
    Syn,
    /// TCP segments with data.
    Data,
    /// All packets.
    Any,
}

/// One packet that is to be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScriptedDrop {
    /// The direction in which it travels.
    pub direction: Way,
    /// What is counted.
    #[serde(rename = "match")]
    pub kind: Match,
    /// Which of them, from 1, counted since the link was ready.
    pub nth: u64,
}

impl LinkConfig {
    /// A link of a profile, all else by default.
    #[must_use]
    pub fn new(profile: ProfileChoice) -> Self {
        LinkConfig {
            profile,
            driver: DriverChoice::Auto,
            congestion: Congestion::Cubic,
            quickack: false,
            initcwnd: None,
            after_idle: AfterIdle::default(),
            cores: Vec::new(),
            measure: Measure::default(),
            drops: Vec::new(),
            seed: None,
        }
    }

    /// Reads one JSON object.
    ///
    /// # Errors
    /// What is wrong, at which option.
    pub fn parse(line: &str) -> Result<Self, Refusal> {
        let mut from = serde_json::Deserializer::from_str(line);
        let config: LinkConfig = serde_path_to_error::deserialize(&mut from)
            .map_err(|error| unreadable(&error.path().to_string(), error.inner()))?;
        // Else what follows the object on its line would be ignored in silence.
        from.end().map_err(|error| unreadable(".", &error))?;
        Ok(config)
    }

    /// Checks it and gives the profile that it means.
    ///
    /// # Errors
    /// The first option that cannot be honoured.
    pub fn check(&self) -> Result<Profile, Refusal> {
        let refuse = |option: &str, message: String, remedy: &str| {
            Err(Refusal::new(option, message, remedy))
        };
        let Measure {
            pings,
            loss_packets,
            ..
        } = self.measure;
        if !(1..=PROBES_MAX).contains(&pings) {
            return refuse(
                "measure.pings",
                format!("{pings} pings"),
                "use 1 to 1000000",
            );
        }
        if loss_packets > PROBES_MAX {
            let message = format!("{loss_packets} packets");
            return refuse("measure.loss_packets", message, "use at most 1000000");
        }
        if self
            .initcwnd
            .is_some_and(|segments| !(1..=INITCWND_MAX).contains(&segments))
        {
            return refuse("initcwnd", "not a window".into(), "use 1 to 1000, or null");
        }
        // Many readers of JSON take numbers as doubles (RFC 8259 section 6).
        if self.seed.is_some_and(|seed| seed > 1 << 53) {
            return refuse(
                "seed",
                "more than 2^53".into(),
                "use a smaller one, or null",
            );
        }
        if self.cores.len() > 2 {
            let message = format!("{} cores for two directions", self.cores.len());
            return refuse("cores", message, "name at most two");
        }
        if self.drops.len() > DROPS_MAX {
            return refuse(
                "drops",
                format!("{} drops", self.drops.len()),
                "use at most 10000",
            );
        }
        if self.drops.iter().any(|drop| drop.nth == 0) {
            return refuse(
                "drops",
                "nth is counted from 1".into(),
                "use 1 for the first",
            );
        }
        self.profile.resolve()
    }
}

fn unreadable(path: &str, error: &serde_json::Error) -> Refusal {
    Refusal::new(
        path,
        error.to_string(),
        "send one JSON object as contracts/process/link.schema.json describes it",
    )
}

impl ProfileChoice {
    fn resolve(&self) -> Result<Profile, Refusal> {
        match self {
            ProfileChoice::Own(document) => Profile::try_from((**document).clone()),
            ProfileChoice::Named(name) if name == "loopback" => Err(Refusal::new(
                "profile",
                "loopback needs no link: it is what there is without one",
                "start service and caller without a link, or use lan",
            )),
            ProfileChoice::Named(name) => profiles::find_profile(name).ok_or_else(|| {
                Refusal::new(
                    "profile",
                    format!("there is no profile {name:?}"),
                    format!("use {}, or write a profile out", NAMES.join(", ")),
                )
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> Refusal {
        LinkConfig::parse(line)
            .and_then(|config| config.check())
            .expect_err(line)
    }

    #[test]
    fn a_name_is_enough() {
        let config = LinkConfig::parse(r#"{"profile":"wlan"}"#).unwrap();
        assert_eq!(config, LinkConfig::new(ProfileChoice::Named("wlan".into())));
        assert_eq!(config.check().unwrap().name, "wlan");
    }

    #[test]
    fn an_own_profile_is_read() {
        let line = r#"{"profile":{"name":"bad","both":{"delay_ms":3,
            "loss":{"kind":"gilbert-elliott","p_percent":1,"r_percent":30}}},"seed":7}"#;
        let profile = LinkConfig::parse(line).unwrap().check().unwrap();
        assert_eq!(
            (profile.name.as_str(), profile.backward.delay_ms),
            ("bad", 3.0)
        );
    }

    #[test]
    fn what_cannot_be_honoured_is_named() {
        let rows = [
            (r#"{"profile":"loopback"}"#, "profile", "needs no link"),
            (r#"{"profile":"moon"}"#, "profile", "moon"),
            (r#"{"profile":"lan","speed":1}"#, "speed", "unknown field"),
            (r#"{"profile":"lan","driver":"magic"}"#, "driver", "magic"),
            (
                r#"{"profile":{"name":"a","both":{"delay":1}}}"#,
                "profile",
                "both.delay",
            ),
            (
                r#"{"profile":"lan","measure":{"pings":0}}"#,
                "measure.pings",
                "0 pings",
            ),
            (r#"{"profile":"lan","cores":[0,1,2]}"#, "cores", "3 cores"),
            (r#"{"profile":"lan","initcwnd":0}"#, "initcwnd", "window"),
            (r#"{"profile":"lan","after_idle":"no"}"#, "after_idle", "no"),
            (r#"{"profile":"lan"} {}"#, ".", "trailing"),
            (
                r#"{"profile":"lan","drops":[{"direction":"forward","match":"syn","nth":0}]}"#,
                "drops",
                "from 1",
            ),
        ];
        for (line, option, expected) in rows {
            let refusal = refused(line);
            assert_eq!(refusal.option, option, "{line}");
            assert!(
                refusal.message.contains(expected),
                "{line}: {}",
                refusal.message
            );
        }
    }
}
