//! `live`: dissects the packets of interfaces while they pass.
//!
//! One thread takes blocks from the kernel's rings, dissects them in bounded memory, and
//! prints a line of JSON with the account of time every second; the last line is the whole
//! dissection.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::Serialize;
use wirelab_contract::print_error;
use wirelab_host::Watch;
use wirelab_trace::Analyzer;
use wirelab_trace::capture::{Capture, CaptureError, KernelTotals, Options as CaptureOptions};
use wirelab_trace::diagnosis::Diagnosis;
use wirelab_trace::flow::Limits;
use wirelab_trace::host::Timeline;
use wirelab_trace::output::{Dissection, Dissector, HostWaits, Options, Waits};
use wirelab_trace::packet::file::{InterfaceTotals, Record, Writer};

use crate::interrupt;
use crate::sockets::Sockets;

const ANY: &str = "any";
const WRITE_BYTES: usize = 1 << 20;
/// Packets wait for a look-up, so that it finds the sockets of all of them, but no longer.
const SOCKETS_WAIT_MAX: Duration = Duration::from_millis(64);
/// Packets are handed over after this time where a socket that is closed again would be missed. The
/// ring then holds those of a quarter of a second.
const SOCKETS_RETIRE_MS: u32 = 4;
/// Records of the host that are taken at a time.
const HOST_RECORDS: usize = 1 << 16;
const WAIT_MAX: Duration = Duration::from_millis(100);

/// What to watch, and for how long.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Interface, e.g. lo; `any` for all that are up. May be repeated.
    #[arg(long, default_value = ANY)]
    interface: Vec<String>,
    /// Only TCP from or to this port.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Only connections of this process and its children.
    #[arg(long)]
    pid: Option<u32>,
    /// End after this number of seconds; without it at SIGINT.
    #[arg(long = "for", value_name = "SECONDS")]
    seconds: Option<f64>,
    /// Print the account at this interval, in seconds.
    #[arg(long, default_value_t = 1.0)]
    every: f64,
    /// Also write the packets to this file (pcapng; needs one interface).
    #[arg(long)]
    write: Option<String>,
    /// Also record what that process does meanwhile, to divide the time of the server by it
    /// (needs --pid).
    #[arg(long, requires = "pid")]
    host: bool,
    /// Size of each interface's ring, MiB.
    #[arg(long, default_value_t = CaptureOptions::RING_MIB)]
    ring_mib: u32,
    /// Connections to list at the end.
    #[arg(long, default_value_t = 64)]
    flows: u32,
}

/// The lines that it prints.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Line<'a> {
    /// From now on no packet is missed.
    Ready { interfaces: Vec<String> },
    /// The account so far.
    Live(Box<Progress>),
    /// The last line.
    Dissection(&'a Dissection),
}

#[derive(Serialize)]
struct Progress {
    /// Since the first line.
    seconds: f64,
    packets: u64,
    bytes: u64,
    /// Packets that the kernel had no room for.
    drops: u64,
    exchanges: u64,
    waits: Waits,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let interrupted = interrupt::flag();
    interrupt::die_with_parent();
    match watch(arguments, interrupted) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Refused(message)) => {
            print_error!("wirelab-engine: {message}");
            ExitCode::from(2)
        }
        Err(Failure::Machine(error)) => {
            print_error!("wirelab-engine: live: {error}");
            ExitCode::from(3)
        }
    }
}

enum Failure {
    Refused(String),
    Machine(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Machine(error)
    }
}

fn refused(error: &CaptureError) -> Failure {
    Failure::Refused(format!("{error}; {}", error.remedy()))
}

fn watch(arguments: &Arguments, interrupted: &AtomicBool) -> Result<(), Failure> {
    let names = interfaces(&arguments.interface)?;
    let mut sources = Vec::new();
    for name in &names {
        sources.extend(source(name, arguments, names.len() > 1)?);
    }
    if sources.is_empty() {
        return Err(Failure::Refused(
            "no interface can be captured; name one by --interface".to_owned(),
        ));
    }
    let host = arguments.pid.filter(|_| arguments.host).map(Host::open);
    let host = host.transpose()?;
    let sockets = arguments.pid.map(Sockets::of);
    let mut live = Live::new(arguments, sockets, sources, host);
    live.writer = arguments
        .write
        .as_ref()
        .map(|file| live.file(file))
        .transpose()?;
    // A process that does not exist is refused, and sockets that are open are known from the start.
    live.look_up()?;
    print(&Line::Ready {
        interfaces: live.sources.iter().map(|one| one.name.clone()).collect(),
    })?;
    live.run_until_stopped(arguments, interrupted)?;
    live.finish()
}

/// As named; all that are up for `any`.
fn interfaces(named: &[String]) -> Result<Vec<String>, Failure> {
    if named.iter().all(|name| name != ANY) {
        return Ok(named.to_vec());
    }
    let mut names: Vec<String> = fs::read_dir("/sys/class/net")?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// None for an interface that cannot be captured where all are meant.
fn source(name: &str, arguments: &Arguments, is_any: bool) -> Result<Option<Source>, Failure> {
    let options = CaptureOptions {
        port: arguments.port,
        ring_mib: arguments.ring_mib,
        retire_ms: match arguments.pid {
            Some(_) => SOCKETS_RETIRE_MS,
            None => CaptureOptions::RETIRE_MS,
        },
        ..CaptureOptions::of(name)
    };
    match Capture::open(&options) {
        Ok(capture) => Ok(Some(Source {
            name: name.to_owned(),
            capture,
            ready: 1,
        })),
        Err(CaptureError::Hardware { .. }) if is_any => Ok(None),
        Err(error) => Err(refused(&error)),
    }
}

struct Source {
    name: String,
    capture: Capture,
    /// Blocks to take next.
    ready: usize,
}

/// What the process does meanwhile.
struct Host {
    watch: Watch,
    timeline: Timeline,
}

impl Host {
    fn open(pid: u32) -> Result<Host, Failure> {
        let watch = Watch::open(&[pid])
            .map_err(|error| Failure::Refused(format!("--host: {error}; {}", error.remedy())))?;
        Ok(Host {
            watch,
            timeline: Timeline::default(),
        })
    }

    fn drain(&mut self) {
        let Host { watch, timeline } = self;
        watch.drain(HOST_RECORDS, |record| timeline.take(record));
    }

    fn drops(&self) -> io::Result<u64> {
        let counts = self.watch.counts().map_err(io::Error::other)?;
        Ok(counts.drops)
    }
}

struct Live {
    sources: Vec<Source>,
    host: Option<Host>,
    analyzer: Analyzer,
    dissector: Dissector<Diagnosis>,
    sockets: Option<Sockets>,
    writer: Option<Writer<BufWriter<File>>>,
    number: u64,
    bytes: u64,
    began: Instant,
    began_ns: u64,
}

impl Live {
    fn new(
        arguments: &Arguments,
        sockets: Option<Sockets>,
        sources: Vec<Source>,
        host: Option<Host>,
    ) -> Live {
        let options = Options {
            port: arguments.port,
            timeline: None,
            flows: arguments.flows as usize,
            sample: 0,
            ..Options::default()
        };
        let mut diagnosis = Diagnosis::default().listing(arguments.flows as usize);
        if host.is_some() {
            diagnosis = diagnosis.with_host();
        }
        let dissector = Dissector::new(options, diagnosis);
        Live {
            sources,
            host,
            analyzer: Analyzer::new(Limits::default()),
            dissector,
            sockets,
            writer: None,
            number: 0,
            bytes: 0,
            began: Instant::now(),
            began_ns: now_ns(),
        }
    }

    fn file(&self, name: &str) -> Result<Writer<BufWriter<File>>, Failure> {
        let [source] = self.sources.as_slice() else {
            return Err(Failure::Refused(
                "--write needs one interface; name it, e.g. --interface lo".to_owned(),
            ));
        };
        let file = File::create_new(name)
            .map_err(|error| Failure::Refused(format!("--write {name}: {error}")))?;
        let out = BufWriter::with_capacity(WRITE_BYTES, file);
        let link = source.capture.link_type();
        Ok(Writer::new(
            out,
            link,
            CaptureOptions::SNAP_BYTES,
            &source.name,
        )?)
    }

    fn run_until_stopped(
        &mut self,
        arguments: &Arguments,
        interrupted: &AtomicBool,
    ) -> Result<(), Failure> {
        let end = arguments
            .seconds
            .map(|seconds| self.began + Duration::from_secs_f64(seconds.clamp(0.0, 1e9)));
        let every = Duration::from_secs_f64(arguments.every.clamp(0.1, 3_600.0));
        let mut next = self.began + every;
        loop {
            self.look_up()?;
            self.take_host();
            let is_more = self.take_blocks()?;
            let now = Instant::now();
            if interrupted.load(Ordering::SeqCst) || end.is_some_and(|end| now >= end) {
                return Ok(());
            }
            if now >= next {
                let progress = Box::new(self.progress()?);
                print(&Line::Live(progress))?;
                next = now + every;
            }
            if !is_more {
                self.wait(next.min(end.unwrap_or(next)))?;
            }
        }
    }

    /// The sockets of the process: connections, and addresses that it listens at. Packets wait in
    /// the ring for the next look-up, so that it finds their sockets; the ring bounds their number.
    fn look_up(&mut self) -> Result<(), Failure> {
        let Some(sockets) = &mut self.sockets else {
            return Ok(());
        };
        std::thread::sleep(sockets.left().min(SOCKETS_WAIT_MAX));
        for source in &mut self.sources {
            source.ready = source.capture.ready();
        }
        let pid = sockets.pid;
        match sockets.look_up() {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let message = format!("there is no process {pid}; name one that runs");
                Err(Failure::Refused(message))
            }
            Err(error) => Err(Failure::Refused(format!(
                "--pid {pid}: its sockets cannot be looked up: {error}; run as root, in a \
                 container with CAP_SYS_PTRACE"
            ))),
        }
    }

    /// The ready blocks of each interface; false where none was full. No more, so that a busy
    /// interface holds up neither the others nor the end.
    fn take_blocks(&mut self) -> io::Result<bool> {
        let Live {
            sources,
            analyzer,
            dissector,
            writer,
            sockets,
            number,
            bytes,
            ..
        } = self;
        let mut take = |frame: &Record<'_>| {
            // Packets of other processes are neither counted nor written.
            if sockets.as_mut().is_some_and(|own| !own.keeps(frame)) {
                return Ok(());
            }
            *number += 1;
            *bytes += u64::from(frame.wire_bytes);
            // Numbers go on over all interfaces.
            let frame = Record {
                number: *number,
                ..*frame
            };
            analyzer.record(&frame, dissector);
            writer.as_mut().map_or(Ok(()), |writer| {
                writer.write_frame(frame.at_ns, frame.wire_bytes, frame.data)
            })
        };
        let mut is_more = false;
        for source in sources {
            for _ in 0..source.ready {
                is_more |= source.capture.block(&mut take)?;
            }
        }
        Ok(is_more)
    }

    fn take_host(&mut self) {
        if let Some(host) = &mut self.host {
            host.drain();
            self.dissector.diagnosis_mut().settle_host(&host.timeline);
        }
    }

    fn wait(&self, until: Instant) -> io::Result<()> {
        let mut all: Vec<PollFd<'_>> = self
            .sources
            .iter()
            .map(|source| PollFd::new(&source.capture, PollFlags::IN))
            .collect();
        let left = until.saturating_duration_since(Instant::now());
        let left = left.clamp(Duration::from_millis(1), WAIT_MAX);
        match poll(&mut all, Timespec::try_from(left).ok().as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn totals(&mut self) -> io::Result<KernelTotals> {
        let mut sum = KernelTotals::default();
        for source in &mut self.sources {
            let own = source.capture.totals()?;
            sum.received += own.received;
            sum.drops += own.drops;
            sum.freezes += own.freezes;
        }
        Ok(sum)
    }

    fn progress(&mut self) -> io::Result<Progress> {
        let drops = self.totals()?.drops;
        let diagnosis = self.dissector.diagnosis();
        let mut waits = Waits::from(&diagnosis.progress());
        if let (Some(host), Some(times)) = (&self.host, diagnosis.host()) {
            waits.host = Some(HostWaits::new(times.sums(), Some(host.drops()?)));
        }
        Ok(Progress {
            seconds: self.began.elapsed().as_secs_f64(),
            packets: self.number,
            bytes: self.bytes,
            drops,
            exchanges: self.dissector.exchanges(),
            waits,
        })
    }

    fn finish(mut self) -> Result<(), Failure> {
        for source in &self.sources {
            source.capture.stop()?;
        }
        // The last block is handed over when its time has passed.
        let settling = self.sources.iter().map(|source| source.capture.settling());
        std::thread::sleep(settling.max().unwrap_or_default());
        self.look_up()?;
        for source in &mut self.sources {
            source.ready = 1;
        }
        while self.take_blocks()? {}
        let totals = self.totals()?;
        if let Some(writer) = &mut self.writer {
            writer.finish(&InterfaceTotals {
                started_ns: self.began_ns,
                ended_ns: now_ns(),
                received: totals.received,
                drops: totals.drops,
            })?;
        }
        let mut summary = self.analyzer.finish(&mut self.dissector);
        summary.drops = Some(totals.drops);
        let (mut dissection, diagnosis) = self.dissector.finish("live", &summary);
        let times = dissection.add_diagnosis(diagnosis);
        if let (Some(mut host), Some(times)) = (self.host, times) {
            host.drain();
            let sums = times.finish(&host.timeline);
            dissection.add_host_waits(&sums, Some(host.drops()?));
        }
        print(&Line::Dissection(&dissection))?;
        Ok(())
    }
}

fn now_ns() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

fn print(line: &Line<'_>) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    out.flush()
}
