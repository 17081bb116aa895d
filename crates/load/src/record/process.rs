//! What this process and this machine used: CPU, memory, switches, steal.

use std::fs;
use std::mem;
use std::num::NonZeroU64;

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity, set_current_timer_slack};

/// Cumulative figures of this process, from getrusage(2) and /proc/stat.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) user_s: f64,
    pub(crate) system_s: f64,
    pub(crate) involuntary: u64,
    pub(crate) rss_max_bytes: u64,
    pub(crate) steal_s: f64,
}

impl Usage {
    pub(crate) fn now() -> Usage {
        // SAFETY: an all-zero rusage is valid, and the call fills it.
        let usage = unsafe {
            let mut usage: libc::rusage = mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &mut usage);
            usage
        };
        Usage {
            user_s: timeval_s(usage.ru_utime),
            system_s: timeval_s(usage.ru_stime),
            involuntary: usage.ru_nivcsw as u64,
            rss_max_bytes: rss_max_bytes().unwrap_or(0),
            steal_s: steal_s().unwrap_or(0.0),
        }
    }

    pub(crate) fn cpu_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

/// VmHWM of /proc/self/status (proc(5)). Not `ru_maxrss`: that begins with the
/// peak of the process that forked this one.
fn rss_max_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace()
        .nth(1)?
        .parse::<u64>()
        .ok()
        .map(|kib| kib * 1024)
}

fn timeval_s(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

/// The eighth figure of /proc/stat's first line, in ticks (proc(5)).
fn steal_s() -> Option<f64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let ticks: f64 = stat
        .lines()
        .next()?
        .split_whitespace()
        // After the word `cpu`: user, nice, system, idle, iowait, irq, softirq, steal.
        .nth(8)?
        .parse()
        .ok()?;
    // SAFETY: sysconf reads a constant.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
    Some(ticks / per_second)
}

/// Nanoseconds for which the thread `tid` of this process was ready to run and waited for a core:
/// `run_delay` of /proc/self/task/TID/schedstat ("time spent waiting on a runqueue", Linux,
/// Documentation/scheduler/sched-stats.rst). None where the kernel does not count it, or the thread has ended.
pub(crate) fn run_delay_ns(tid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/self/task/{tid}/schedstat")).ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

/// Pins the calling thread to one core.
pub(crate) fn pin(core: usize) -> std::io::Result<()> {
    // `CpuSet::set` does not return an error for it.
    if core >= CpuSet::MAX_CPU {
        return Err(Errno::INVAL.into());
    }
    let mut set = CpuSet::new();
    set.set(core);
    // None is the calling thread.
    Ok(sched_setaffinity(None, &set)?)
}

/// Largest SO_RCVBUF that the kernel gives, in bytes (socket(7)).
pub(crate) fn receive_buffer_max() -> u32 {
    let text = fs::read_to_string("/proc/sys/net/core/rmem_max").ok();
    // Where the kernel does not say, it decides.
    text.and_then(|text| text.trim().parse().ok())
        .unwrap_or(u32::MAX)
}

/// Lets the calling thread's timers fire as exactly as the kernel can
/// (PR_SET_TIMERSLACK of 1 ns instead of 50 us).
pub(crate) fn sharpen_timers() {
    // Where it is refused, timers are up to 50 us late, which the schedule lag shows.
    let _sharp = set_current_timer_slack(NonZeroU64::new(1));
}
