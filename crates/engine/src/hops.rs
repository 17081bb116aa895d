//! `hops`: two captures in, what the proxy between them did, out.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use wirelab_contract::print_error;
use wirelab_trace::hops::{HopCollector, Hops, Names, compare};
use wirelab_trace::output::{Dissector, Options};
use wirelab_trace::read_file;

/// What to read.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Packets between caller and proxy: pcap or pcapng.
    front: PathBuf,
    /// Packets between proxy and service, of the same clock.
    back: PathBuf,
}

pub(crate) fn hops(arguments: &Arguments) -> ExitCode {
    let hops = match read(arguments) {
        Ok(hops) => hops,
        Err(message) => {
            print_error!("wirelab-engine: {message}");
            return ExitCode::from(2);
        }
    };
    match print(&hops) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error!("wirelab-engine: standard output: {error}");
            ExitCode::from(3)
        }
    }
}

fn read(arguments: &Arguments) -> Result<Hops, String> {
    let mut front = collect(&arguments.front, Names::default())?;
    let back = collect(&arguments.back, front.take_names())?;
    Ok(compare(front, back))
}

/// The exchanges of one capture; or why it cannot be read, and what to do.
fn collect(file: &Path, names: Names) -> Result<HopCollector, String> {
    let name = file.display().to_string();
    let mut dissector = Dissector::new(Options::default(), HopCollector::new(names));
    let summary = read_file(file, &mut dissector)
        .map_err(|error| format!("{name}: {error}; {}", error.remedy()))?;
    let (_, collector) = dissector.finish(&name, &summary);
    Ok(collector)
}

fn print(hops: &Hops) -> io::Result<()> {
    let mut text = serde_json::to_vec(hops)?;
    text.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    out.flush()
}
