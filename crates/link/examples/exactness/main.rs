//! How exact the emulator is on this machine: round trips, echoes under load,
//! rates, losses, throughput, each next to the nominal value, as JSON lines and a
//! table. Run it as root on an idle machine:
//!
//! `cargo run --release -p wirelab-link --example exactness [--tries N] [CORE…]`
//!
//! The cores are the emulator's; without, the kernel places it. Each figure is
//! tried N times, five without `--tries`; every try of all comes before the next
//! try of any, so that a machine that is busy for some seconds spoils one try of
//! a figure, and not all.

#![allow(
    clippy::disallowed_macros,
    reason = "messages of an interactive program"
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
    /// None where a word is not a number.
    fn parse(mut arguments: Vec<String>) -> Option<Plan> {
        let mut tries = 5;
        if let Some(at) = arguments.iter().position(|word| word == "--tries") {
            tries = arguments
                .get(at + 1)?
                .parse()
                .ok()
                .filter(|tries| *tries > 0)?;
            arguments.drain(at..=at + 1);
        }
        let cores: Option<Vec<usize>> = arguments.iter().map(|core| core.parse().ok()).collect();
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

/// One measurement: its rows, and a try of each.
struct Measurement {
    rows: Vec<Row>,
    try_once: Box<Try>,
}

type Try = dyn Fn(&Plan) -> Result<Vec<f64>, LinkError>;

fn rows(plan: &Plan) -> Result<Vec<Row>, LinkError> {
    let mut measurements = measurements();
    for _ in 0..plan.tries {
        for measurement in &mut measurements {
            let found = (measurement.try_once)(plan)?;
            for (row, one) in measurement.rows.iter_mut().zip(found) {
                row.add(one);
            }
        }
    }
    Ok(measurements.into_iter().flat_map(|one| one.rows).collect())
}

fn measurements() -> Vec<Measurement> {
    let mut all = Vec::new();
    // The round trips of wlan, routed-wlan and gprs; of the slowest fewer, since each
    // takes a second.
    all.extend([(2.5, 400), (13.8, 400), (850.0, 60)].map(|(ms, pings)| round_trip(ms, pings)));
    all.extend([2.5, 13.8, 850.0].map(measure_under_load));
    all.extend([26.8, 1_000.0, 100_000.0, 1_000_000.0].map(rate));
    all.extend([0.5, 2.9, 10.0].map(loss));
    all.extend([0.0, 0.5].map(throughput));
    all.push(packets());
    all
}

/// A link of the emulator with this direction both ways.
fn link(plan: &Plan, both: Value, measure: Value) -> Result<Link, LinkError> {
    let config = json!({
        "profile": {"name": "exactness", "both": both},
        // One seed for all runs, so that they differ by the machine alone.
        "driver": "emulator", "cores": plan.cores, "measure": measure, "seed": 20_261_122,
    });
    Link::start(&LinkConfig::parse(&config.to_string())?)
}

fn round_trip(ms: f64, pings: u32) -> Measurement {
    let name = format!("RTT {ms} ms: p50 above nominal, ms");
    Measurement {
        rows: vec![Row::at_most(name, 0.4)],
        try_once: Box::new(move |plan| {
            let link = link(plan, json!({"delay_ms": ms / 2.0}), json!({"pings": pings}))?;
            Ok(vec![link.ready().measured.rtt_ms.p50 - ms])
        }),
    }
}

/// Two rows: what a caller sees, and the emulator's own part of it, which a
/// busy machine spoils less.
fn measure_under_load(ms: f64) -> Measurement {
    let load = format!("RTT {ms} ms at 10,000 echoes/s");
    Measurement {
        rows: vec![
            Row::at_most(format!("{load}: p99 above nominal, ms"), 0.8),
            Row::at_most(format!("{load}: emulator late at p99, ms"), 0.4),
        ],
        try_once: Box::new(move |plan| {
            let link = link(plan, json!({"delay_ms": ms / 2.0}), json!({"pings": 10}))?;
            let p99 = flood::echo_p99_ms(&link, 10_000.0, 20_000).map_err(machine)?;
            let lateness = link.report()?.lateness_us;
            let late = lateness.map_or(f64::NAN, |lateness| lateness.p99 / 1_000.0);
            Ok(vec![p99 - ms, late])
        }),
    }
}

fn rate(kbit: f64) -> Measurement {
    Measurement {
        rows: vec![Row::at_most(format!("rate {kbit} kbit/s: off by, %"), 3.0)],
        try_once: Box::new(move |plan| {
            let both = json!({"rate_kbit": kbit, "queue_bytes": 1_000_000, "delay_ms": 1});
            let link = link(plan, both, json!({"pings": 5, "rate": true}))?;
            let rates = link.ready().measured.rate_kbit;
            let off = |measured: f64| 100.0 * (measured / kbit - 1.0);
            Ok(vec![rates.map_or(f64::NAN, |rates| {
                off(rates.forward).abs().max(off(rates.backward).abs())
            })])
        }),
    }
}

/// Whether the nominal loss lies in the 99.9 % interval of what was measured:
/// 0 inside, else how far outside, percent points.
fn loss(percent: f64) -> Measurement {
    let name = format!("loss {percent} %: outside of its 99.9 % interval by, %");
    Measurement {
        rows: vec![Row::at_most(name, 0.0)],
        try_once: Box::new(move |plan| {
            let both = json!({"delay_ms": 1, "loss": {"kind": "random", "percent": percent}});
            let link = link(plan, both, json!({"pings": 5, "loss_packets": 5_000}))?;
            let measured = link.ready().measured.loss_percent.as_ref();
            let out = |way: &wirelab_link::Proportion| {
                (way.low - percent).max(percent - way.high).max(0.0)
            };
            Ok(vec![measured.map_or(f64::NAN, |loss| {
                out(&loss.forward).max(out(&loss.backward))
            })])
        }),
    }
}

fn throughput(ms: f64) -> Measurement {
    Measurement {
        rows: vec![Row::at_least(format!("TCP at RTT {ms} ms, Gbit/s"), 1.5)],
        try_once: Box::new(move |plan| {
            let link = link(plan, json!({"delay_ms": ms / 2.0}), json!({"pings": 5}))?;
            Ok(vec![flood::tcp_gbit(&link, 1.0).map_err(machine)?])
        }),
    }
}

fn packets() -> Measurement {
    Measurement {
        rows: vec![Row::at_least(
            "packets/s of 84 B delivered".into(),
            150_000.0,
        )],
        try_once: Box::new(|plan| {
            let link = link(plan, json!({"delay_ms": 0.5}), json!({"pings": 5}))?;
            Ok(vec![flood::udp_packets_per_s(&link, 1.0).map_err(machine)?])
        }),
    }
}

fn machine(error: std::io::Error) -> LinkError {
    LinkError::Machine {
        doing: "flooding the link".into(),
        error,
    }
}
