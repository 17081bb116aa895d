//! The named profiles, and where their figures come from.
//!
//! docs/reference/links.md prints the same table with the reasoning.

use crate::model::distribution::Distribution;
use crate::model::profile::{Direction, PROBE_BYTES, Profile};

/// The names, from the fastest to the slowest; `loopback` is a link's absence.
pub const NAMES: [&str; 6] = ["lan", "wlan", "mobile", "wan", "routed-wlan", "gprs"];

/// The profile of a name, or nothing.
#[must_use]
pub fn find_profile(name: &str) -> Option<Profile> {
    let (forward, backward) = match name {
        "lan" => symmetric(Direction::default()),
        "wlan" => symmetric(delay_direction(1.25)),
        "routed-wlan" => wlan(),
        "gprs" => gprs(),
        "wan" => symmetric(wan()),
        "mobile" => symmetric(mobile()),
        _ => return None,
    };
    Some(Profile {
        name: name.to_owned(),
        forward,
        backward,
    })
}

fn symmetric(direction: Direction) -> (Direction, Direction) {
    (direction.clone(), direction)
}

fn delay_direction(delay_ms: f64) -> Direction {
    Direction {
        delay_ms,
        ..Direction::default()
    }
}

/// Round trips of 9.2 ms at least and 13.8 ms on average (Kangasharju et al.
/// 2003, table 3): half of each per way, as the least delay and the mean of
/// the skewed distribution. Their WLAN "dropped replies to SYNs" at a rate
/// that was not published; 2.9 % is what their times imply when each loss
/// costs the SYN timer of the day, 3 s.
fn wlan() -> (Direction, Direction) {
    let skewed = Distribution::Pareto;
    let (least_ms, mean_ms) = (9.2 / 2.0, 13.8 / 2.0);
    let jitter_ms = (mean_ms - least_ms) / (skewed.reach() + skewed.mean());
    let forward = Direction {
        delay_ms: least_ms + skewed.reach() * jitter_ms,
        jitter_ms,
        distribution: skewed,
        ..Direction::default()
    };
    let backward = Direction {
        // Backward only: the study's network dropped the replies.
        syn_loss_percent: 2.9,
        ..forward.clone()
    };
    (forward, backward)
}

/// Round trips of 850 ms by ping (the middle of the 800-900 ms that the same
/// study names) over a phone of multislot class 10, 2 slots up and 4 down, at
/// coding scheme 2, 13.4 kbit/s a slot (3GPP TS 43.064). Its queue holds
/// about three seconds: our assumption.
fn gprs() -> (Direction, Direction) {
    let slots = |number: f64| Direction {
        rate_kbit: Some(13.4 * number),
        queue_bytes: Some((13.4 * number * 3_000.0 / 8.0) as u64),
        ..Direction::default()
    };
    let (mut forward, mut backward) = (slots(2.0), slots(4.0));
    let ping_ms = forward.transmission_ms(PROBE_BYTES) + backward.transmission_ms(PROBE_BYTES);
    forward.delay_ms = (850.0 - ping_ms) / 2.0;
    // Ping does not show how the delay divides between the ways.
    backward.delay_ms = forward.delay_ms;
    (forward, backward)
}

/// 8,000 km of fibre at 5 us per km, each way; 100 Mbit/s; a queue of one
/// round trip's bytes. Our assumption.
fn wan() -> Direction {
    Direction {
        rate_kbit: Some(100_000.0),
        queue_bytes: Some(1_000_000),
        ..delay_direction(40.0)
    }
}

/// WebPageTest's profile "LTE": 12 Mbit/s each way, 70 ms of round trip. The
/// queue of a quarter of a second is our assumption.
fn mobile() -> Direction {
    Direction {
        rate_kbit: Some(12_000.0),
        queue_bytes: Some(375_000),
        ..delay_direction(35.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::profile::ProfileDocument;
    use crate::model::way::Way;

    fn mean_rtt_ms(name: &str) -> f64 {
        let profile = find_profile(name).unwrap();
        [Way::Forward, Way::Backward]
            .map(|way| profile.direction(way).mean_ms(PROBE_BYTES))
            .iter()
            .sum()
    }

    #[test]
    fn round_trips_are_the_published_ones() {
        let rows = [
            ("lan", 0.0),
            ("wlan", 2.5),
            ("routed-wlan", 13.8),
            ("gprs", 850.0),
        ];
        for (name, ms) in rows {
            assert!((mean_rtt_ms(name) - ms).abs() < 1e-9, "{name}");
        }
    }

    #[test]
    fn the_routed_wlan_is_never_faster_than_the_published_least() {
        let profile = find_profile("routed-wlan").unwrap();
        let least = |way: &Direction| way.delay_ms - way.distribution.reach() * way.jitter_ms;
        let rtt = least(&profile.forward) + least(&profile.backward);
        assert!((rtt - 9.2).abs() < 1e-9, "{rtt}");
    }

    #[test]
    fn every_named_profile_passes_the_check_that_own_ones_must() {
        for name in NAMES {
            let profile = find_profile(name).unwrap();
            let document = ProfileDocument {
                name: profile.name.clone(),
                both: None,
                forward: Some(profile.forward.clone()),
                backward: Some(profile.backward.clone()),
            };
            assert_eq!(Profile::try_from(document), Ok(profile), "{name}");
        }
        assert_eq!(find_profile("loopback"), None);
    }
}
