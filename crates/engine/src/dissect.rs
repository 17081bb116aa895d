//! `dissect`: a capture in, what it says out.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use wirelab_trace::diagnosis::{Diagnosis, EXAMPLES};
use wirelab_trace::dissection::{Dissection, Dissector, Options};
use wirelab_trace::read_file;

/// What to read, and what to tell of it.
#[derive(Args)]
pub(crate) struct Arguments {
    /// pcap or pcapng; `-` is standard input.
    file: PathBuf,
    /// Print one line of JSON instead of an indented document.
    #[arg(long)]
    json: bool,
    /// Only connections to or from that port.
    #[arg(long)]
    port: Option<u16>,
    /// The exchange whose packets to list, from 1 in the order of their first
    /// packets; by default one with the median latency.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    timeline: Option<u64>,
    /// Connections to list.
    #[arg(long, value_name = "N", default_value_t = 64)]
    flows: usize,
    /// Name every occurrence of each finding, not the longest few.
    #[arg(long)]
    all_findings: bool,
}

pub(crate) fn dissect(arguments: &Arguments) -> ExitCode {
    let dissection = match read(arguments) {
        Ok(dissection) => dissection,
        Err(error) => {
            let remedy = "name a pcap or pcapng file, or - for standard input";
            eprintln!(
                "wirelab-engine: {}: {error}; {remedy}",
                arguments.file.display()
            );
            return ExitCode::from(2);
        }
    };
    match print(&dissection, arguments.json) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wirelab-engine: standard output: {error}");
            ExitCode::from(3)
        }
    }
}

fn read(arguments: &Arguments) -> Result<Dissection, wirelab_trace::file::Error> {
    let options = Options {
        port: arguments.port,
        timeline: arguments.timeline,
        flows: arguments.flows,
    };
    let examples = if arguments.all_findings {
        usize::MAX
    } else {
        EXAMPLES
    };
    let mut dissector = Dissector::new(options, Diagnosis::new(examples));
    let summary = read_file(&arguments.file, &mut dissector)?;
    let file = arguments.file.display().to_string();
    let (mut dissection, diagnosis) = dissector.finish(&file, &summary);
    dissection.findings = diagnosis.findings();
    Ok(dissection)
}

fn print(dissection: &Dissection, line: bool) -> io::Result<()> {
    let mut text = if line {
        serde_json::to_vec(dissection)?
    } else {
        serde_json::to_vec_pretty(dissection)?
    };
    text.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    out.flush()
}
