//! `capture`: the packets of an interface into a pcapng file, as a process of
//! the lab or by hand.

mod document;

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use wirelab_contract::print_error;
use wirelab_contract::refusal::Refusal;
use wirelab_trace::capture::{Capture, CaptureError, Recorded, Recording};
use wirelab_trace::text::pluralize;

use crate::interrupt;
use crate::output_file::{create, is_out_of_room, unwritable};
use crate::waiting::{self, Stop, wait};
use document::{Captured, Failure};
pub use document::{Config, Line};

/// One write of the file takes so much of a block of the ring.
// Few large writes: while one lasts, the ring fills.
const BUFFER_BYTES: usize = 1 << 20;

/// Without an interface, the configuration is one JSON line on standard input,
/// whose end stops the capture.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Interface to capture, e.g. lo.
    #[arg(long, requires = "file")]
    interface: Option<String>,
    /// File to write (pcapng); one that is there already is not overwritten.
    #[arg(long, requires = "interface")]
    file: Option<String>,
    /// Stop after this time; without it at SIGINT.
    #[arg(long, requires = "interface", value_parser = seconds, allow_negative_numbers = true)]
    seconds: Option<f64>,
    /// Only TCP from or to this port.
    #[arg(long, requires = "interface", allow_negative_numbers = true)]
    port: Option<u16>,
    /// Cut frames to this number of bytes.
    #[arg(long, requires = "interface", allow_negative_numbers = true)]
    snaplen: Option<u32>,
    /// Size of the ring that the kernel fills, MiB.
    #[arg(long, requires = "interface", allow_negative_numbers = true)]
    ring_mib: Option<u32>,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok();
    let seconds = seconds.filter(|seconds| (0.001..=1e9).contains(seconds));
    seconds.ok_or("use 0.001 to 1e9 seconds, or leave it out and end it by SIGINT".into())
}

pub(crate) fn run(arguments: Arguments) -> ExitCode {
    // Before the capture opens: a signal that comes early must end it, and not the process.
    let interrupted = interrupt::flag();
    let outcome = plan(arguments).and_then(|(config, stop)| {
        let begun = begin(&config)?;
        Ok(begun.and_then(|recording| record(recording, &config, stop, interrupted)))
    });
    let (line, code) = match outcome {
        Ok(Ok(captured)) => (Line::Captured { captured }, 0),
        Ok(Err(failed)) => {
            print_error!("wirelab-engine: {}; {}", failed.message, failed.remedy);
            (Line::Failed { failed }, 3)
        }
        Err(refused) => {
            print_error!("wirelab-engine: {refused}");
            (Line::Refused { refused }, 2)
        }
    };
    match print(&line) {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            print_error!("wirelab-engine: standard output: {error}");
            ExitCode::from(3)
        }
    }
}

fn print(line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    out.flush()
}

/// What to capture, and what stops it.
fn plan(arguments: Arguments) -> Result<(Config, Stop), Refusal> {
    let (Some(interface), Some(file)) = (arguments.interface, arguments.file) else {
        // Only as a process of the lab: by hand the parent is a shell, which may end first.
        interrupt::die_with_parent();
        return Ok((from_stdin()?, Stop::AtEndOfInput));
    };
    let after = arguments.seconds.map(Duration::from_secs_f64);
    let stop = after.map_or(Stop::AtSignal, |after| Stop::At(Instant::now() + after));
    let config = Config {
        interface,
        file,
        snaplen: arguments.snaplen,
        port: arguments.port,
        ring_mib: arguments.ring_mib,
        cores: Vec::new(),
    };
    Ok((config, stop))
}

fn from_stdin() -> Result<Config, Refusal> {
    let mut line = String::new();
    let remedy = "send one JSON line as contracts/process/capture.schema.json describes it, \
                  or use --interface and --file";
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| Refusal::new("standard input", error.to_string(), remedy))?;
    serde_json::from_str(&line)
        .map_err(|error| Refusal::new("configuration", error.to_string(), remedy))
}

type Recorder = Recording<BufWriter<File>>;

/// An illegal configuration is refused; a disk without room is a failure of the machine.
fn begin(config: &Config) -> Result<Result<Recorder, Failure>, Refusal> {
    // Before the ring exists: the kernel then allocates it near these cores.
    waiting::pin(&config.cores).map_err(|error| {
        let remedy = "name cores that this process may use";
        Refusal::new("cores", error.to_string(), remedy)
    })?;
    let options = config.options();
    let refused =
        |error: CaptureError| Refusal::new(error.option(), error.to_string(), error.remedy());
    let capture = Capture::open(&options).map_err(refused)?;
    let recording = create(Path::new(&config.file))?.and_then(|file| {
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        Recording::begin(capture, file, options.snap_bytes, &options.interface)
    });
    match recording {
        Ok(recording) => Ok(Ok(recording)),
        Err(error) if is_out_of_room(&error) => {
            Ok(Err(failure(&config.file, &error, &Recorded::default())))
        }
        Err(error) => Err(unwritable(&config.file, &error)),
    }
}

fn record(
    mut recording: Recorder,
    config: &Config,
    stop: Stop,
    interrupted: &std::sync::atomic::AtomicBool,
) -> Result<Captured, Failure> {
    let link_type = recording.link_type().name();
    let ready = Line::Ready {
        ready: true,
        pid: std::process::id(),
        interface: config.interface.clone(),
        link_type,
    };
    let mut until_stopped = || {
        // Printed once the socket is bound: from this line on no packet is missed.
        print(&ready)?;
        while !wait(&recording, &stop, interrupted)? {
            recording.drain()?;
        }
        Ok(())
    };
    let stopped = until_stopped();
    // Also after a failure: what can be saved is.
    let finished = recording.finish();
    match stopped.and(finished) {
        Ok(recorded) => Ok(Captured::new(&recorded)),
        Err(error) => Err(failure(&config.file, &error, recording.recorded())),
    }
}

fn failure(file: &str, error: &io::Error, recorded: &Recorded) -> Failure {
    let out_of_room = is_out_of_room(error);
    let remedy = if out_of_room {
        "free some room, write elsewhere, or cut frames with snaplen"
    } else {
        "look at the file system and the interface"
    };
    Failure {
        message: format!(
            "capturing into {file}: {error}; it holds {}",
            pluralize(recorded.packets, "packet")
        ),
        remedy: remedy.into(),
        out_of_room,
        captured: Captured::new(recorded),
    }
}
