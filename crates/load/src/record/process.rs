//! What this process and this machine used: CPU, memory, switches, steal.

use std::fs;
use std::mem;

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
