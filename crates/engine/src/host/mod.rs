//! `host`: what the threads of processes do while packets wait, into a file, as a process of
//! the lab or by hand.

mod document;

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use wirelab_contract::print_error;
use wirelab_contract::refusal::Refusal;
use wirelab_host::{HostError, Watch};
use wirelab_trace::host::{HostTally, Record, Totals, header};

use crate::interrupt;
use crate::output_file::{create, is_out_of_room, unwritable};
use crate::waiting::{self, Stop, wait};
pub use document::{HostConfig, HostLine};
use document::{HostFailure, HostRecorded};

const BUFFER_BYTES: usize = 1 << 20;
/// Records between two looks at whether to stop.
const BATCH: usize = 1 << 16;

/// Without a process, the configuration is one JSON line on standard input, whose end stops
/// the recording.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Process to record, with those that it starts. May be repeated.
    #[arg(long = "pid", value_name = "PID")]
    pids: Vec<u32>,
    /// File of records to write; one that is there already is not overwritten.
    #[arg(long, requires = "pids")]
    file: Option<String>,
    /// End after this number of seconds; without it at SIGINT.
    #[arg(long = "for", value_name = "SECONDS", requires = "pids")]
    seconds: Option<f64>,
}

pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let interrupted = interrupt::flag();
    let outcome = plan(arguments).and_then(|(config, stop)| {
        let begun = Recording::begin(&config)?;
        Ok(begun.and_then(|recording| record(recording, stop, interrupted)))
    });
    let (line, code) = match outcome {
        Ok(Ok(recorded)) => (HostLine::Recorded { recorded }, 0),
        Ok(Err(failed)) => {
            print_error!("wirelab-engine: {}; {}", failed.message, failed.remedy);
            (HostLine::Failed { failed }, 3)
        }
        Err(refused) => {
            print_error!("wirelab-engine: {refused}");
            (HostLine::Refused { refused }, 2)
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

fn print(line: &HostLine) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    out.flush()
}

fn plan(arguments: Arguments) -> Result<(HostConfig, Stop), Refusal> {
    if arguments.pids.is_empty() {
        // Only as a process of the lab: by hand the parent is a shell, which may end first.
        interrupt::die_with_parent();
        return Ok((from_stdin()?, Stop::AtEndOfInput));
    }
    let config = HostConfig {
        pids: arguments.pids,
        file: arguments.file,
        cores: Vec::new(),
    };
    let after = |seconds: f64| Duration::from_secs_f64(seconds.clamp(0.0, 1e9));
    let stop = arguments.seconds.map(after);
    let stop = stop.map_or(Stop::AtSignal, |after| Stop::At(Instant::now() + after));
    Ok((config, stop))
}

fn from_stdin() -> Result<HostConfig, Refusal> {
    let mut line = String::new();
    let remedy = "send one JSON line as contracts/process/host.schema.json describes it, or \
                  use --pid";
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| Refusal::new("standard input", error.to_string(), remedy))?;
    let config: HostConfig = serde_json::from_str(&line)
        .map_err(|error| Refusal::new("configuration", error.to_string(), remedy))?;
    if config.pids.is_empty() {
        return Err(Refusal::new("pids", "no process is named", "name one"));
    }
    Ok(config)
}

struct Recording {
    watch: Watch,
    out: Option<BufWriter<File>>,
    tally: HostTally,
    file: String,
    from_ns: u64,
}

impl Recording {
    /// An illegal configuration is refused; a disk without room is a failure of the machine.
    fn begin(config: &HostConfig) -> Result<Result<Recording, HostFailure>, Refusal> {
        waiting::pin(&config.cores).map_err(|error| {
            let remedy = "name cores that this process may use";
            Refusal::new("cores", error.to_string(), remedy)
        })?;
        let refused =
            |error: HostError| Refusal::new(error.option(), error.to_string(), error.remedy());
        let watch = Watch::open(&config.pids).map_err(refused)?;
        let mut recording = Recording {
            watch,
            out: None,
            tally: HostTally::default(),
            file: config.file.clone().unwrap_or_default(),
            from_ns: now_ns(),
        };
        let Some(name) = &config.file else {
            return Ok(Ok(recording));
        };
        let file = create(Path::new(name))?.and_then(|file| {
            let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
            out.write_all(&header())?;
            Ok(out)
        });
        match file {
            Ok(out) => {
                recording.out = Some(out);
                Ok(Ok(recording))
            }
            Err(error) if is_out_of_room(&error) => Ok(Err(recording.failure(&error))),
            Err(error) => Err(unwritable(name, &error)),
        }
    }

    /// True when there may be more.
    fn drain(&mut self) -> io::Result<bool> {
        let Recording {
            watch, out, tally, ..
        } = self;
        let mut written = Ok(());
        let is_more = watch.drain(BATCH, |record| {
            tally.take(record);
            if let (Some(out), Ok(())) = (out.as_mut(), &written) {
                written = out.write_all(&record.raw());
            }
        });
        written.map(|()| is_more)
    }

    fn finish(&mut self) -> io::Result<HostRecorded> {
        let to_ns = now_ns();
        // What was recorded until now; of a busy process there would always be more.
        for _ in 0..8 {
            if !self.drain()? {
                break;
            }
        }
        let counts = self.watch.counts().map_err(io::Error::other)?;
        if let Some(out) = &mut self.out {
            let totals = Record::Totals(Totals {
                from_ns: self.from_ns,
                to_ns,
                drops: counts.drops,
            });
            out.write_all(&totals.raw())?;
            out.flush()?;
        }
        Ok(HostRecorded::new(&self.tally, counts))
    }

    fn failure(&self, error: &io::Error) -> HostFailure {
        let out_of_room = is_out_of_room(error);
        let remedy = if out_of_room {
            "free some room, or write elsewhere"
        } else {
            "look at the file system"
        };
        HostFailure {
            message: format!("recording into {}: {error}", self.file),
            remedy: remedy.to_owned(),
            out_of_room,
        }
    }
}

fn record(
    mut recording: Recording,
    stop: Stop,
    interrupted: &AtomicBool,
) -> Result<HostRecorded, HostFailure> {
    let ready = HostLine::Ready {
        ready: true,
        pid: std::process::id(),
    };
    let mut until_stopped = || {
        print(&ready)?;
        while !wait(&recording.watch, &stop, interrupted)? {
            recording.drain()?;
        }
        Ok(())
    };
    let stopped = until_stopped();
    let finished = recording.finish();
    stopped
        .and(finished)
        .map_err(|error| recording.failure(&error))
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}
