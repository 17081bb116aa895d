//! What the kernel knows about this process.

use std::fs;
use std::io;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU, memory and threads of this process.
#[derive(Debug)]
pub(crate) struct ProcessUsage {
    /// CPU time of all threads, user and system.
    pub(crate) cpu: Duration,
    /// Resident memory now.
    pub(crate) resident_bytes: u64,
    /// The most resident memory so far.
    pub(crate) resident_max_bytes: u64,
    /// Threads now.
    pub(crate) threads: u64,
    /// Open file descriptors, the one that counts them left out.
    pub(crate) descriptors: usize,
}

/// Reads /proc/self (proc(5)) and the process's CPU clock.
pub(crate) fn read() -> io::Result<ProcessUsage> {
    let status = fs::read_to_string("/proc/self/status")?;
    Ok(ProcessUsage {
        cpu: cpu(),
        // The kernel prints these in kB of 1,024 bytes (proc(5)).
        resident_bytes: field(&status, "VmRSS")? * 1024,
        resident_max_bytes: field(&status, "VmHWM")? * 1024,
        threads: field(&status, "Threads")?,
        // The directory that is being read is open too.
        descriptors: fs::read_dir("/proc/self/fd")?.count().saturating_sub(1),
    })
}

// /proc/self/status has lines of `Name:\tvalue kB`.
fn field(status: &str, name: &str) -> io::Result<u64> {
    status
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| *key == name)
        .and_then(|(_, value)| value.split_whitespace().next()?.parse().ok())
        .ok_or_else(|| io::Error::other(format!("/proc/self/status has no {name}")))
}

fn cpu() -> Duration {
    // The process clock has the resolution of a nanosecond; /proc/self/stat counts in 10 ms.
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        time.tv_nsec.unsigned_abs() as u32,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_has_used_something_of_everything() {
        let process = read().unwrap();
        assert!(process.cpu > Duration::ZERO);
        assert!(process.resident_bytes > 100_000);
        assert!(process.resident_max_bytes >= process.resident_bytes);
        assert!(process.threads >= 1 && process.descriptors >= 3);
    }
}
