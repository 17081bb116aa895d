//! What a link does to packets, per direction.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wirelab_contract::refusal::Refusal;

use crate::model::distribution::Distribution;
use crate::model::way::Way;

/// Largest IP packet, bytes: Ethernet's.
pub(crate) const MTU: u32 = 1_500;

/// Bytes of an echo as an IP packet: as ping(8) sends it.
pub(crate) const PROBE_BYTES: usize = 84;

/// Largest delay or jitter, milliseconds: a minute.
const DELAY_MS_MAX: f64 = 60_000.0;

/// Bounds of a bottleneck's rate, kbit/s.
const RATE_KBIT_MIN: f64 = 0.1;
const RATE_KBIT_MAX: f64 = 100_000_000.0;

/// Least that a queue holds, bytes: a full packet.
const QUEUE_BYTES_MIN: u64 = MTU as u64;

/// How packets are lost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossModel {
    /// Each packet alone.
    Random {
        /// Probability, percent.
        #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 100.0)))]
        percent: f64,
    },
    /// In bursts: a Markov chain of a good and a bad state takes one step
    /// after each packet (Gilbert 1960; Elliott 1963).
    GilbertElliott {
        /// Probability of going from good to bad, percent.
        #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 100.0)))]
        p_percent: f64,
        /// Probability of going from bad to good, percent.
        #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 100.0)))]
        r_percent: f64,
        /// Probability of loss in the bad state, percent.
        #[serde(default = "certain_percent")]
        #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 100.0)))]
        loss_bad_percent: f64,
        /// Probability of loss in the good state, percent.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 100.0)))]
        loss_good_percent: f64,
    },
}

fn certain_percent() -> f64 {
    100.0
}

impl LossModel {
    /// Share of packets that are lost in the long run, 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        match *self {
            LossModel::Random { percent } => percent / 100.0,
            LossModel::GilbertElliott {
                p_percent: p,
                r_percent: r,
                loss_bad_percent: bad,
                loss_good_percent: good,
                // The chain is in the bad state for p / (p + r) of the packets.
            } => (p * bad + r * good) / (p + r) / 100.0,
        }
    }
}

/// What happens to the packets of one direction.
///
/// In this order: scripted drops, `syn_loss_percent`, `loss`, `duplicate_percent`,
/// `corrupt_percent`, the bottleneck (`rate_kbit`, `queue_bytes`), then the delay.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Direction {
    /// Delay one way, milliseconds.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = DELAY_MS_MAX)))]
    pub delay_ms: f64,
    /// How far the delay varies, milliseconds; what it means depends on
    /// `distribution`. It never reorders: no packet is let out before the one
    /// that came before it.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = DELAY_MS_MAX)))]
    pub jitter_ms: f64,
    /// How the delay varies.
    pub distribution: Distribution,
    /// How packets are lost.
    pub loss: Option<LossModel>,
    /// Loss of TCP segments with SYN, percent, in addition to `loss`.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 100.0)))]
    pub syn_loss_percent: f64,
    /// Rate of the bottleneck, kbit/s of IP packets; absent: none.
    #[cfg_attr(feature = "schema", schemars(range(min = RATE_KBIT_MIN, max = RATE_KBIT_MAX)))]
    pub rate_kbit: Option<f64>,
    /// Bytes that may wait at the bottleneck, the packet in transmission
    /// counted with what is left of it; more is dropped at the tail. Absent:
    /// as many as come.
    #[cfg_attr(feature = "schema", schemars(range(min = QUEUE_BYTES_MIN)))]
    pub queue_bytes: Option<u64>,
    /// Packets that skip the delay and so overtake, percent.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 100.0)))]
    pub reorder_percent: f64,
    /// Packets that are sent twice, percent.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 100.0)))]
    pub duplicate_percent: f64,
    /// Packets of which one bit is turned, percent.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0, max = 100.0)))]
    pub corrupt_percent: f64,
}

/// A profile as it is written: two directions, or one for both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfileDocument {
    /// Its name, for the result.
    pub name: String,
    /// Both directions alike; excludes the two below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub both: Option<Direction>,
    /// Client to server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forward: Option<Direction>,
    /// Server to client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backward: Option<Direction>,
}

/// A profile, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Client to server.
    pub forward: Direction,
    /// Server to client.
    pub backward: Direction,
}

impl TryFrom<ProfileDocument> for Profile {
    type Error = Refusal;

    fn try_from(document: ProfileDocument) -> Result<Self, Refusal> {
        let (forward, backward) = match (document.both, document.forward, document.backward) {
            (Some(both), None, None) => (both.clone(), both),
            (None, Some(forward), Some(backward)) => (forward, backward),
            _ => {
                return Err(Refusal::new(
                    "profile",
                    "a profile has either both, or forward and backward",
                    "give {\"name\",\"both\":{…}} or {\"name\",\"forward\":{…},\"backward\":{…}}",
                ));
            }
        };
        let profile = Profile {
            name: document.name,
            forward,
            backward,
        };
        for way in [Way::Forward, Way::Backward] {
            profile.direction(way).check(way)?;
        }
        Ok(profile)
    }
}

impl Profile {
    /// What happens one way.
    #[must_use]
    pub fn direction(&self, way: Way) -> &Direction {
        match way {
            Way::Forward => &self.forward,
            Way::Backward => &self.backward,
        }
    }

    /// Whether it leaves packets alone, so that bare veth is enough.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.forward == Direction::default() && self.backward == Direction::default()
    }
}

impl Direction {
    /// Time that a packet of that number of IP bytes takes through the empty
    /// direction on average, milliseconds.
    #[must_use]
    pub fn mean_ms(&self, bytes: usize) -> f64 {
        self.delay_ms + self.distribution.mean() * self.jitter_ms + self.transmission_ms(bytes)
    }

    /// Time that the bottleneck needs for a packet, milliseconds.
    #[must_use]
    pub fn transmission_ms(&self, bytes: usize) -> f64 {
        // Bits over kbit/s are milliseconds.
        self.rate_kbit.map_or(0.0, |kbit| bytes as f64 * 8.0 / kbit)
    }

    fn check(&self, way: Way) -> Result<(), Refusal> {
        let refuse = |field: &str, message: String, remedy: &str| {
            Err(Refusal::new(
                format!("profile.{way}.{field}"),
                message,
                remedy,
            ))
        };
        for (field, ms) in [("delay_ms", self.delay_ms), ("jitter_ms", self.jitter_ms)] {
            if !(0.0..=DELAY_MS_MAX).contains(&ms) {
                return refuse(field, format!("{ms} ms"), "use 0 to 60000");
            }
        }
        for (field, percent) in self.percents() {
            if !(0.0..=100.0).contains(&percent) {
                return refuse(field, format!("{percent} %"), "use 0 to 100");
            }
        }
        if let Some(kbit) = self.rate_kbit
            && !(RATE_KBIT_MIN..=RATE_KBIT_MAX).contains(&kbit)
        {
            return refuse(
                "rate_kbit",
                format!("{kbit} kbit/s"),
                "use 0.1 to 100000000",
            );
        }
        self.check_jitter(way)?;
        self.check_queue(way)
    }

    fn percents(&self) -> Vec<(&'static str, f64)> {
        let mut percents = vec![
            ("syn_loss_percent", self.syn_loss_percent),
            ("reorder_percent", self.reorder_percent),
            ("duplicate_percent", self.duplicate_percent),
            ("corrupt_percent", self.corrupt_percent),
        ];
        match self.loss {
            None => {}
            Some(LossModel::Random { percent }) => percents.push(("loss.percent", percent)),
            Some(LossModel::GilbertElliott {
                p_percent,
                r_percent,
                loss_bad_percent,
                loss_good_percent,
            }) => percents.extend([
                ("loss.p_percent", p_percent),
                ("loss.r_percent", r_percent),
                ("loss.loss_bad_percent", loss_bad_percent),
                ("loss.loss_good_percent", loss_good_percent),
            ]),
        }
        percents
    }

    fn check_jitter(&self, way: Way) -> Result<(), Refusal> {
        let option = |field: &str| format!("profile.{way}.{field}");
        if (self.distribution == Distribution::None) != (self.jitter_ms == 0.0) {
            return Err(Refusal::new(
                option("distribution"),
                "jitter_ms and distribution go together: one is given, the other not",
                "give both, or neither",
            ));
        }
        let reach_ms = self.distribution.reach() * self.jitter_ms;
        // A jitter that was calculated from the delay may be too large by a rounding.
        if reach_ms > self.delay_ms * (1.0 + 1e-9) {
            let most = self.delay_ms / self.distribution.reach();
            return Err(Refusal::new(
                option("jitter_ms"),
                format!(
                    "a packet would be early by {:.3} ms",
                    reach_ms - self.delay_ms
                ),
                format!("use jitter_ms up to {most:.3}, or more delay_ms"),
            ));
        }
        if self.reorder_percent > 0.0 && self.delay_ms == 0.0 {
            return Err(Refusal::new(
                option("reorder_percent"),
                "without a delay there is no packet to overtake",
                "give delay_ms",
            ));
        }
        Ok(())
    }

    fn check_queue(&self, way: Way) -> Result<(), Refusal> {
        let stuck = matches!(
            self.loss,
            Some(LossModel::GilbertElliott { p_percent, r_percent, .. })
                if p_percent + r_percent == 0.0
        );
        if stuck {
            return Err(Refusal::new(
                format!("profile.{way}.loss"),
                "the chain never moves: p_percent and r_percent are 0",
                "give p_percent and r_percent, or kind random",
            ));
        }
        match (self.queue_bytes, self.rate_kbit) {
            (Some(_), None) => Err(Refusal::new(
                format!("profile.{way}.queue_bytes"),
                "without a rate nothing waits",
                "give rate_kbit",
            )),
            (Some(bytes), Some(_)) if bytes < QUEUE_BYTES_MIN => Err(Refusal::new(
                format!("profile.{way}.queue_bytes"),
                format!("{bytes} B hold no full packet"),
                "use at least 1500",
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check_both(both: Value) -> Result<Profile, Refusal> {
        let document = json!({"name": "own", "both": both});
        serde_json::from_value::<ProfileDocument>(document)
            .expect("a document")
            .try_into()
    }

    #[test]
    fn one_direction_stands_for_both() {
        let profile = check_both(json!({"delay_ms": 5.0})).unwrap();
        assert_eq!(profile.forward, profile.backward);
        assert!(!profile.is_bare());
        assert!(check_both(json!({})).unwrap().is_bare());
    }

    #[test]
    fn what_cannot_be_is_refused_by_its_name() {
        let rows = [
            (json!({"delay_ms": -1.0}), "profile.forward.delay_ms"),
            (
                json!({"corrupt_percent": 101.0}),
                "profile.forward.corrupt_percent",
            ),
            (
                json!({"jitter_ms": 1.0, "delay_ms": 9.0}),
                "profile.forward.distribution",
            ),
            (
                json!({"jitter_ms": 3.0, "delay_ms": 9.0, "distribution": "normal"}),
                "profile.forward.jitter_ms",
            ),
            (
                json!({"reorder_percent": 1.0}),
                "profile.forward.reorder_percent",
            ),
            (json!({"queue_bytes": 9000}), "profile.forward.queue_bytes"),
            (
                json!({"queue_bytes": 900, "rate_kbit": 10.0}),
                "profile.forward.queue_bytes",
            ),
            (json!({"rate_kbit": 0.0}), "profile.forward.rate_kbit"),
            (
                json!({"loss": {"kind": "gilbert-elliott", "p_percent": 0.0, "r_percent": 0.0}}),
                "profile.forward.loss",
            ),
        ];
        for (both, option) in rows {
            assert_eq!(
                check_both(both.clone()).unwrap_err().option,
                option,
                "{both}"
            );
        }
    }

    #[test]
    fn both_with_forward_is_refused() {
        let document = ProfileDocument {
            name: "own".into(),
            both: Some(Direction::default()),
            forward: Some(Direction::default()),
            backward: None,
        };
        assert_eq!(Profile::try_from(document).unwrap_err().option, "profile");
    }

    #[test]
    fn the_mean_loss_of_the_chain_follows_its_formula() {
        let model = LossModel::GilbertElliott {
            p_percent: 1.0,
            r_percent: 25.0,
            loss_bad_percent: 100.0,
            loss_good_percent: 0.0,
        };
        assert!((model.share() - 1.0 / 26.0).abs() < 1e-12);
    }
}
