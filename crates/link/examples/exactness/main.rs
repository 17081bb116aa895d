//! How exact the emulator is on this machine: round trips, echoes under load,
//! rates, losses, throughput, each beside what was asked, as JSON lines and a
//! table. Run it as root on an idle machine:
//!
//! `cargo run --release -p wirelab-link --example exactness [--tries N] [CORE…]`
//!
//! The cores are the emulator's; without, the kernel places it. Each figure is
//! tried N times, five without `--tries`.

#![allow(
    clippy::disallowed_macros,
    reason = "words for whoever runs it by hand"
)]

mod flood;
mod row;

use std::env;
use std::process::ExitCode;

use serde_json::{Value, json};
use wirelab_link::{Link, LinkConfig, LinkError};

use row::Row;

/// What was asked for.
struct Plan {
    cores: Vec<usize>,
    /// Of everything that a busy machine disturbs; the best one counts, and all
    /// are printed.
    tries: usize,
}

impl Plan {
    /// None where a word is no number.
    fn parse(mut words: Vec<String>) -> Option<Plan> {
        let mut tries = 5;
        if let Some(at) = words.iter().position(|word| word == "--tries") {
            tries = words.get(at + 1)?.parse().ok().filter(|tries| *tries > 0)?;
            words.drain(at..=at + 1);
        }
        let cores: Option<Vec<usize>> = words.iter().map(|core| core.parse().ok()).collect();
        Some(Plan {
            cores: cores?,
            tries,
        })
    }
}

fn main() -> ExitCode {
    let Some(plan) = Plan::parse(env::args().skip(1).collect()) else {
        eprintln!("exactness: cores and --tries are numbers");
        return ExitCode::from(2);
    };
    match rows(&plan) {
        Ok(rows) => row::print(&rows),
        Err(error) => {
            eprintln!("exactness: {error}");
            ExitCode::from(3)
        }
    }
}

fn rows(plan: &Plan) -> Result<Vec<Row>, LinkError> {
    let mut rows = Vec::new();
    for (ms, pings) in [(2.5, 400), (13.8, 400), (850.0, 60)] {
        rows.push(round_trip(plan, ms, pings)?);
    }
    for ms in [2.5, 13.8, 850.0] {
        rows.extend(under_load(plan, ms)?);
    }
    for kbit in [26.8, 1_000.0, 100_000.0, 1_000_000.0] {
        rows.push(rate(plan, kbit)?);
    }
    for percent in [0.5, 2.9, 10.0] {
        rows.push(loss(plan, percent)?);
    }
    for ms in [0.0, 0.5] {
        rows.push(throughput(plan, ms)?);
    }
    rows.push(packets(plan)?);
    Ok(rows)
}

/// A link of the emulator with this direction both ways.
fn link(plan: &Plan, both: Value, measure: Value) -> Result<Link, LinkError> {
    let config = json!({
        "profile": {"name": "exactness", "both": both},
        "driver": "emulator", "cores": plan.cores, "measure": measure, "seed": 20_261_122,
    });
    Link::start(&LinkConfig::parse(&config.to_string())?)
}

fn tries(
    plan: &Plan,
    mut one: impl FnMut() -> Result<f64, LinkError>,
) -> Result<Vec<f64>, LinkError> {
    (0..plan.tries).map(|_| one()).collect()
}

fn round_trip(plan: &Plan, ms: f64, pings: u32) -> Result<Row, LinkError> {
    let found = tries(plan, || {
        let link = link(plan, json!({"delay_ms": ms / 2.0}), json!({"pings": pings}))?;
        Ok(link.ready().measured.rtt_ms.p50 - ms)
    })?;
    Ok(Row::at_most(
        format!("RTT {ms} ms: p50 above nominal, ms"),
        found,
        0.4,
    ))
}

/// Two rows: what a caller sees, and the emulator's own part of it, which a
/// busy machine spoils less.
fn under_load(plan: &Plan, ms: f64) -> Result<[Row; 2], LinkError> {
    let mut late = Vec::new();
    let found = tries(plan, || {
        let link = link(plan, json!({"delay_ms": ms / 2.0}), json!({"pings": 10}))?;
        let p99 = flood::echo_p99_ms(&link, 10_000.0, 20_000).map_err(machine)?;
        let lateness = link.report()?.lateness_us;
        late.push(lateness.map_or(f64::NAN, |lateness| lateness.p99 / 1_000.0));
        Ok(p99 - ms)
    })?;
    let load = format!("RTT {ms} ms at 10,000 echoes/s");
    Ok([
        Row::at_most(format!("{load}: p99 above nominal, ms"), found, 0.8),
        Row::at_most(format!("{load}: emulator late at p99, ms"), late, 0.4),
    ])
}

fn rate(plan: &Plan, kbit: f64) -> Result<Row, LinkError> {
    let both = json!({"rate_kbit": kbit, "queue_bytes": 1_000_000, "delay_ms": 1});
    let found = tries(plan, || {
        let link = link(plan, both.clone(), json!({"pings": 5, "rate": true}))?;
        let rates = link.ready().measured.rate_kbit;
        let off = |measured: f64| 100.0 * (measured / kbit - 1.0);
        Ok(rates.map_or(f64::NAN, |rates| {
            off(rates.forward).abs().max(off(rates.backward).abs())
        }))
    })?;
    Ok(Row::at_most(
        format!("rate {kbit} kbit/s: off by, %"),
        found,
        3.0,
    ))
}

/// Whether the nominal loss lies in the 99.9 % interval of what was measured:
/// 0 inside, else how far outside, percent points.
fn loss(plan: &Plan, percent: f64) -> Result<Row, LinkError> {
    let both = json!({"delay_ms": 1, "loss": {"kind": "random", "percent": percent}});
    let found = tries(plan, || {
        let link = link(
            plan,
            both.clone(),
            json!({"pings": 5, "loss_packets": 5_000}),
        )?;
        let measured = link.ready().measured.loss_percent.as_ref();
        let out =
            |way: &wirelab_link::Proportion| (way.low - percent).max(percent - way.high).max(0.0);
        Ok(measured.map_or(f64::NAN, |loss| out(&loss.forward).max(out(&loss.backward))))
    })?;
    Ok(Row::at_most(
        format!("loss {percent} %: outside of its 99.9 % interval by, %"),
        found,
        0.0,
    ))
}

fn throughput(plan: &Plan, ms: f64) -> Result<Row, LinkError> {
    let found = tries(plan, || {
        let link = link(plan, json!({"delay_ms": ms / 2.0}), json!({"pings": 5}))?;
        flood::tcp_gbit(&link, 1.0).map_err(machine)
    })?;
    Ok(Row::at_least(
        format!("TCP at RTT {ms} ms, Gbit/s"),
        found,
        1.5,
    ))
}

fn packets(plan: &Plan) -> Result<Row, LinkError> {
    let found = tries(plan, || {
        let link = link(plan, json!({"delay_ms": 0.5}), json!({"pings": 5}))?;
        flood::udp_packets_per_s(&link, 1.0).map_err(machine)
    })?;
    Ok(Row::at_least(
        "packets/s of 84 B delivered".into(),
        found,
        150_000.0,
    ))
}

fn machine(error: std::io::Error) -> LinkError {
    LinkError::Machine {
        doing: "flooding the link".into(),
        error,
    }
}
