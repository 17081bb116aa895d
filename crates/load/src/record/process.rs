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
        .nth(8)?
        .parse()
        .ok()?;
    // SAFETY: sysconf reads a constant.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
    Some(ticks / per_second)
}

/// Pins the calling thread to one core.
pub(crate) fn pin(core: usize) -> std::io::Result<()> {
    if core >= libc::CPU_SETSIZE as usize {
        return Err(std::io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: an all-zero cpu_set_t is the empty set; `core` lies within it.
    let done = unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, mem::size_of::<libc::cpu_set_t>(), &set)
    };
    if done == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
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
    // SAFETY: this prctl takes one number.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1usize, 0usize, 0usize, 0usize) };
}

/// Raises the soft limit of open files to the hard one and returns it.
pub(crate) fn open_files_max() -> u64 {
    // SAFETY: the rlimit is valid for both calls.
    unsafe {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) != 0 {
            return 1024;
        }
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        limit.rlim_cur
    }
}
