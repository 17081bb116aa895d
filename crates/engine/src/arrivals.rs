//! Prints an arrival schedule, so that anyone can test it.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use wirelab_contract::print_error;
use wirelab_load::arrivals::Arrivals;
use wirelab_load::plan::Load;

/// Which schedule.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Calls per second.
    #[arg(long)]
    rate: f64,
    /// Exponential gaps from this seed; without it: even gaps.
    #[arg(long)]
    poisson_seed: Option<u64>,
    /// How many arrivals.
    #[arg(long, default_value_t = 1000)]
    count: usize,
}

pub(crate) fn print(arguments: &Arguments) -> ExitCode {
    // Written so that NaN fails it, too.
    if !(arguments.rate > 0.0 && arguments.rate <= 1e8) {
        print_error!(
            "--rate {:?}: use calls per second above 0, at most 100,000,000",
            arguments.rate
        );
        return ExitCode::from(2);
    }
    match write(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error!("standard output: {error}");
            ExitCode::from(3)
        }
    }
}

fn write(arguments: &Arguments) -> io::Result<()> {
    let (rate, in_flight_max) = (arguments.rate, 1);
    let load = match arguments.poisson_seed {
        Some(seed) => Load::Poisson {
            rate,
            in_flight_max,
            seed,
        },
        None => Load::Constant {
            rate,
            in_flight_max,
        },
    };
    let mut out = BufWriter::new(io::stdout().lock());
    // As one thread: the shares of several threads add up to the same process.
    for at in Arrivals::of(&load, 0, 1)
        .into_iter()
        .flatten()
        .take(arguments.count)
    {
        writeln!(out, "{at}")?;
    }
    out.flush()
}
