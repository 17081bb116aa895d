//! The search for an input that makes a target fail.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::corpus::{self, Seed};
use super::memory::peak;
use super::mutate::{Random, mutate};

/// Bounds of a search, and what one input may cost.
#[derive(Clone, Copy)]
pub struct Limits {
    /// How long to search.
    pub time: Duration,
    /// How many inputs to try.
    pub inputs: u64,
    /// How long one may take. It guards against hanging, not against a busy
    /// machine.
    pub time_max: Duration,
    /// Memory that one may hold, bytes …
    pub held_base: usize,
    /// … and for each of its own bytes.
    pub held_per_byte: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            time: Duration::from_secs(60),
            inputs: u64::MAX,
            time_max: Duration::from_secs(5),
            held_base: 8 << 20,
            held_per_byte: 256,
        }
    }
}

/// Searches for WIRELAB_FUZZ_SECONDS, one second by default.
pub fn fuzz(name: &str, target: fn(&[u8]), seeds: Vec<Seed>) {
    let seconds = std::env::var("WIRELAB_FUZZ_SECONDS");
    let seconds = seconds.map_or(1, |text| {
        text.parse().expect("WIRELAB_FUZZ_SECONDS: a number")
    });
    let limits = Limits {
        time: Duration::from_secs(seconds),
        ..Limits::default()
    };
    let tried = search(name, target, &corpus::read(name, seeds), limits);
    println!("{name}: {tried} inputs");
}

/// Tries the seeds and then changes of them. Returns how many it tried.
///
/// # Panics
/// With the first input that makes the target fail.
pub fn search(name: &str, target: fn(&[u8]), seeds: &[Vec<u8>], limits: Limits) -> u64 {
    let begun = Instant::now();
    seeds
        .iter()
        .for_each(|seed| attempt(name, target, seed, limits));
    // A fixed seed per corpus: a failure in CI is the same failure at home.
    let mut random = Random::new(seeds.len() as u64);
    let mut tried = seeds.len() as u64;
    while begun.elapsed() < limits.time && tried < limits.inputs {
        let mut input = seeds[random.next_below(seeds.len())].clone();
        let other = random.next_below(seeds.len());
        mutate(&mut random, &mut input, &seeds[other]);
        attempt(name, target, &input, limits);
        tried += 1;
    }
    tried
}

fn attempt(name: &str, target: fn(&[u8]), input: &[u8], limits: Limits) {
    let begun = Instant::now();
    let mut outcome = Ok(());
    let held = peak(|| outcome = catch_unwind(AssertUnwindSafe(|| target(input))));
    let took = begun.elapsed();
    // The base is for tables that a parser makes at its start, whatever the input.
    let held_max = limits.held_base + limits.held_per_byte * input.len();
    let fault = if let Err(panic) = outcome {
        let message = panic.downcast_ref::<String>().cloned();
        let message = message.or(panic.downcast_ref::<&str>().map(ToString::to_string));
        message.unwrap_or_default()
    } else if took >= limits.time_max {
        format!("took {took:?}")
    } else if held > held_max {
        format!("held {held} bytes of memory, {held_max} are allowed")
    } else {
        return;
    };
    panic!(
        "{name}: {fault}\nwith {} bytes \"{}\"",
        input.len(),
        // Printed in full: it is the next seed.
        input.escape_ascii()
    );
}
