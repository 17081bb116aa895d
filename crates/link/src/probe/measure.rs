//! The measurements of a link before it is ready: round trips, loss, rates.

use std::io;

use crate::kernel::namespace::Pair;
use crate::model::config::Measure;
use crate::model::profile::{Direction, PROBE_BYTES, Profile};
use crate::model::ready::{LossMeasured, Measured, Nominal, Proportion, Rtt};
use crate::model::way::{Way, Ways};
use crate::probe::ping::Pings;
use crate::probe::rate;
use crate::probe::stop::StopCheck;

const BASE_PINGS: usize = 40;

/// Shortest time between two pings, and between two probes of loss, milliseconds.
const PING_EVERY_MS: f64 = 2.0;
const LOSS_EVERY_MS: f64 = 0.1;

/// Time that the machine itself may take for an answer, milliseconds.
const GRACE_MS: f64 = 500.0;

pub(crate) fn nominal(profile: &Profile) -> Nominal {
    let ways = [Way::Forward, Way::Backward].map(|way| profile.direction(way));
    // A corrupted packet fails its checksum, and so is lost.
    let arrives = |way: &&Direction| {
        (1.0 - way.loss.map_or(0.0, |loss| loss.share())) * (1.0 - way.corrupt_percent / 100.0)
    };
    Nominal {
        rtt_ms: ways.iter().map(|way| way.mean_ms(PROBE_BYTES)).sum(),
        loss_percent: 100.0 * (1.0 - ways.iter().map(arrives).product::<f64>()),
        syn_loss_percent: Ways::each(|way| profile.direction(way).syn_loss_percent),
        rate_kbit: Ways::each(|way| profile.direction(way).rate_kbit),
    }
}

/// Median round trip of a link that has no profile yet, milliseconds.
pub(crate) fn base_rtt_ms(pair: &Pair, stop: StopCheck) -> io::Result<f64> {
    let pings = Pings {
        count: BASE_PINGS,
        every_ms: PING_EVERY_MS,
        wait_ms: GRACE_MS,
    };
    let echoes = pings.send(pair, stop)?;
    Ok(rtt(&echoes.rtt_ms).p50)
}

pub(crate) fn measure(
    pair: &Pair,
    profile: &Profile,
    base_rtt_ms: f64,
    requested: Measure,
    stop: StopCheck,
) -> io::Result<Measured> {
    let rtt_ms = rtt(&pings(profile, requested.pings, PING_EVERY_MS)
        .send(pair, stop)?
        .rtt_ms);
    let loss_percent = match requested.loss_packets {
        0 => None,
        count => Some(loss(pair, profile, count, stop)?),
    };
    // Nothing measures the rate of a link that lets nothing through.
    let is_dead = rtt_ms.n == 0
        && loss_percent
            .as_ref()
            .is_none_or(|loss| loss.echo.value == 100.0);
    let rate_kbit = (requested.rate && !is_dead)
        .then(|| rate::both(pair, profile, stop))
        .transpose()?;
    Ok(Measured {
        base_rtt_ms,
        rtt_ms,
        loss_percent,
        rate_kbit,
    })
}

/// Pings so far apart that none waits for another at a bottleneck or behind a delayed
/// one.
fn pings(profile: &Profile, count: u32, least_ms: f64) -> Pings {
    let ways = [&profile.forward, &profile.backward];
    let most = |of: fn(&Direction) -> f64| ways.iter().map(|way| of(way)).fold(0.0, f64::max);
    let jitter_ms = most(|way| way.jitter_ms);
    let transmission_ms = most(|way| way.transmission_ms(PROBE_BYTES));
    Pings {
        count: count as usize,
        // A deviation is at most 4 jitters (CUT), so that two packets move by 8 against
        // each other.
        every_ms: least_ms.max(8.0 * jitter_ms).max(2.0 * transmission_ms),
        wait_ms: nominal(profile).rtt_ms + 8.0 * jitter_ms + GRACE_MS,
    }
}

fn loss(pair: &Pair, profile: &Profile, count: u32, stop: StopCheck) -> io::Result<LossMeasured> {
    let echoes = pings(profile, count, LOSS_EVERY_MS).send(pair, stop)?;
    let (sent, arrived) = (echoes.rtt_ms.len(), echoes.arrived);
    let returned = echoes.rtt_ms.iter().flatten().count();
    Ok(LossMeasured {
        echo: proportion(sent - returned, sent),
        forward: proportion(sent - arrived, sent),
        // Only what arrived was sent back.
        backward: proportion(arrived - returned, arrived),
    })
}

/// Wilson's score interval (1927) at 99.9 %, percent.
fn proportion(lost: usize, n: usize) -> Proportion {
    const Z: f64 = 3.290_526_731_491_7;
    let (count, share) = (n.max(1) as f64, lost as f64 / n.max(1) as f64);
    // z = 3.29 is the 0.9995 quantile of the normal distribution.
    let squared = Z * Z / count;
    let centre = (share + squared / 2.0) / (1.0 + squared);
    let variance = share * (1.0 - share) / count + squared / count / 4.0;
    let reach = Z * variance.sqrt() / (1.0 + squared);
    Proportion {
        value: 100.0 * share,
        low: 100.0 * (centre - reach).max(0.0),
        high: 100.0 * (centre + reach).min(1.0),
        n,
    }
}

/// Percentiles by nearest rank.
fn rtt(echoes: &[Option<f64>]) -> Rtt {
    let mut ms: Vec<f64> = echoes.iter().flatten().copied().collect();
    ms.sort_by(f64::total_cmp);
    let Some(max) = ms.last().copied() else {
        return Rtt {
            lost: echoes.len(),
            ..Rtt::default()
        };
    };
    // Ranks are counted from 1.
    let at = |share: f64| ms[((share * ms.len() as f64).ceil() as usize).max(1) - 1];
    Rtt {
        min: ms[0],
        mean: ms.iter().sum::<f64>() / ms.len() as f64,
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        max,
        n: ms.len(),
        lost: echoes.len() - ms.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::profile::LossModel;
    use crate::model::profiles::find_profile;

    #[test]
    fn percentiles_are_ranks() {
        let echoes: Vec<_> = (1..=100)
            .map(|ms| Some(f64::from(ms)))
            .chain([None])
            .collect();
        let rtt = rtt(&echoes);
        assert_eq!(
            (rtt.min, rtt.p50, rtt.p90, rtt.p99, rtt.max),
            (1.0, 50.0, 90.0, 99.0, 100.0)
        );
        assert_eq!((rtt.mean, rtt.n, rtt.lost), (50.5, 100, 1));
        assert_eq!(super::rtt(&[None, None]).lost, 2);
    }

    /// By hand: 10 of 100 at z = 3.2905 gives 3.749 to 24.067 %.
    #[test]
    fn the_interval_is_wilsons() {
        let share = proportion(10, 100);
        assert!((share.low - 3.749).abs() < 0.01, "{share:?}");
        assert!((share.high - 24.067).abs() < 0.01, "{share:?}");
        assert_eq!(proportion(0, 0).value, 0.0);
    }

    #[test]
    fn an_echo_is_lost_when_either_way_is() {
        let lossy = Direction {
            loss: Some(LossModel::Random { percent: 10.0 }),
            ..Direction::default()
        };
        let profile = Profile {
            name: "own".into(),
            forward: lossy.clone(),
            backward: lossy,
        };
        assert!((nominal(&profile).loss_percent - 19.0).abs() < 1e-9);
    }

    #[test]
    fn the_loss_of_syns_is_reported_next_to_that_of_echoes() {
        let nominal = nominal(&find_profile("routed-wlan").unwrap());
        let syns = nominal.syn_loss_percent;
        assert_eq!((syns.forward, syns.backward), (0.0, 2.9));
        assert_eq!(nominal.loss_percent, 0.0);
    }

    #[test]
    fn pings_never_wait_for_each_other() {
        let gprs = find_profile("gprs").unwrap();
        let pings = pings(&gprs, 10, PING_EVERY_MS);
        assert!(pings.every_ms > gprs.forward.transmission_ms(PROBE_BYTES));
    }
}
