//! Records what the threads of processes do while packets wait, by programs in the kernel.

mod error;

use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use aya::maps::{HashMap, MapData, PerCpuArray, RingBuf};
use aya::programs::BtfTracePoint;
use aya::{Btf, Ebpf, EbpfLoader};
use rustix::time::{ClockId, clock_gettime};
use wirelab_trace::host::{RawRecord, Record};

pub use error::HostError;

/// The programs and the tracepoints that they are attached to.
const PROGRAMS: [(&str, &str); 6] = [
    // First those that only fill maps, so that no record lacks what they know.
    ("on_fork", "sched_process_fork"),
    ("on_ready", "sk_data_ready"),
    ("on_waking", "sched_waking"),
    ("on_switch", "sched_switch"),
    ("on_read", "sock_recv_length"),
    ("on_write", "sock_send_length"),
];

static OBJECT: &[u8] = aya::include_bytes_aligned!("bpf/host.bpf.o");

/// The inode of the first PID namespace (include/linux/proc_ns.h: PROC_PID_INIT_INO).
const FIRST_PID_NAMESPACE: u64 = 0xEFFF_FFFC;
/// Numbers of capabilities (linux/capability.h).
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// What was taken from the kernel so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Records.
    pub records: u64,
    /// Records that the ring had no room for, and such as contradict themselves.
    pub drops: u64,
}

/// Programs in the kernel that watch some processes, those that these start, and all of
/// their threads. They end with it.
pub struct Watch {
    ring: RingBuf<MapData>,
    lost: PerCpuArray<MapData, u64>,
    records: u64,
    damaged: u64,
    // The programs are detached when it is dropped.
    _programs: Ebpf,
}

impl Watch {
    /// Watches these processes from now on.
    ///
    /// # Errors
    /// When there is no such process, or the machine cannot do it.
    pub fn open(pids: &[u32]) -> Result<Watch, HostError> {
        check_permission()?;
        for pid in pids {
            if !Path::new(&format!("/proc/{pid}")).exists() {
                return Err(HostError::NoProcess(*pid));
            }
        }
        let btf = Btf::from_sys_fs().map_err(|error| HostError::NoBtf(error.to_string()))?;
        let mut programs = EbpfLoader::new()
            .btf(Some(&btf))
            .load(OBJECT)
            .map_err(|error| HostError::kernel("loading the kernel programs", &error))?;
        let mut watched: HashMap<_, u32, u8> = map(&mut programs, "watched")?;
        for pid in pids {
            watched
                .insert(pid, 1, 0)
                .map_err(|error| HostError::kernel("map watched", &error))?;
        }
        for (name, tracepoint) in PROGRAMS {
            attach(&mut programs, name, tracepoint, &btf)?;
        }
        Ok(Watch {
            ring: map(&mut programs, "records")?,
            lost: map(&mut programs, "drops")?,
            records: 0,
            damaged: 0,
            _programs: programs,
        })
    }

    /// Hands over what was recorded since the last call, at most `most` records, in the order
    /// of the kernel, with the times of captures. True when there may be more.
    pub fn drain(&mut self, most: usize, mut take: impl FnMut(&Record)) -> bool {
        let ahead = realtime_ahead_ns();
        for _ in 0..most {
            let Some(item) = self.ring.next() else {
                return false;
            };
            let raw: Option<&RawRecord> = item.first_chunk();
            match raw.map(|raw| Record::parse(raw, self.records)) {
                Some(Ok(record)) => {
                    self.records += 1;
                    take(&record.moved(ahead));
                }
                _ => self.damaged += 1,
            }
        }
        true
    }

    /// # Errors
    /// When the kernel does not say how many it dropped.
    pub fn counts(&self) -> Result<Counts, HostError> {
        let lost = self.lost.get(&0, 0);
        let lost = lost.map_err(|error| HostError::kernel("map drops", &error))?;
        Ok(Counts {
            records: self.records,
            drops: lost.iter().sum::<u64>() + self.damaged,
        })
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ring.as_fd()
    }
}

fn map<T>(programs: &mut Ebpf, name: &str) -> Result<T, HostError>
where
    T: TryFrom<aya::maps::Map, Error = aya::maps::MapError>,
{
    let missing = || HostError::Kernel {
        what: format!("map {name}"),
        reason: "it is not in the object".to_owned(),
    };
    let map = programs.take_map(name).ok_or_else(missing)?;
    T::try_from(map).map_err(|error| HostError::kernel(name, &error))
}

fn attach(programs: &mut Ebpf, name: &str, tracepoint: &str, btf: &Btf) -> Result<(), HostError> {
    let what = format!("tracepoint {tracepoint}");
    let failed = |error: aya::programs::ProgramError| HostError::kernel(&what, &error);
    let program = programs
        .program_mut(name)
        .ok_or_else(|| HostError::Kernel {
            what: what.clone(),
            reason: "its program is not in the object".to_owned(),
        })?;
    let program: &mut BtfTracePoint = program.try_into().map_err(failed)?;
    program.load(tracepoint, btf).map_err(failed)?;
    program.attach().map_err(failed)?;
    Ok(())
}

fn check_permission() -> Result<(), HostError> {
    if cfg!(not(target_arch = "x86_64")) {
        return Err(HostError::Architecture(std::env::consts::ARCH));
    }
    let has = effective_capabilities();
    if !(has(CAP_SYS_ADMIN) || has(CAP_BPF) && has(CAP_PERFMON)) {
        return Err(HostError::NotPermitted);
    }
    let namespace = fs::metadata("/proc/self/ns/pid").map(|file| file.ino());
    if namespace.is_ok_and(|inode| inode != FIRST_PID_NAMESPACE) {
        return Err(HostError::Namespace);
    }
    Ok(())
}

fn effective_capabilities() -> impl Fn(u32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    let bits = bits.unwrap_or(0);
    move |number| bits >> number & 1 == 1
}

/// How far CLOCK_REALTIME, which captures have, is ahead of CLOCK_MONOTONIC, which kernel
/// programs have, ns.
fn realtime_ahead_ns() -> u64 {
    let ns = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    // The reading of the three that took least: an interrupt between two clocks is an error.
    let one = || {
        let before = ns(ClockId::Monotonic);
        let real = ns(ClockId::Realtime);
        let after = ns(ClockId::Monotonic);
        (after - before, real.wrapping_sub(before.midpoint(after)))
    };
    let best = (0..3).map(|_| one()).min_by_key(|(took, _)| *took);
    best.map_or(0, |(_, ahead)| ahead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_has_every_program_at_its_tracepoint() {
        let has = |text: String| {
            OBJECT
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        };
        for (name, tracepoint) in PROGRAMS {
            assert!(has(format!("tp_btf/{tracepoint}\0")), "{tracepoint}");
            assert!(has(format!("\0{name}\0")), "{name}");
        }
        assert!(!has("tp_btf/sys_enter\0".to_owned()));
    }

    #[test]
    fn the_clocks_are_compared_within_a_millisecond() {
        let all = [(); 8].map(|()| realtime_ahead_ns());
        let spread = all.iter().max().unwrap_or(&0) - all.iter().min().unwrap_or(&0);
        assert!(spread < 1_000_000, "{all:?}");
    }
}
