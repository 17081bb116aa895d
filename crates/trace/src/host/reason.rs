//! Why a thread was off the CPU, by its system call and by who woke it.

use super::part::HostPart;
use super::record::OffCpu;

/// Numbers of system calls on x86-64 (arch/x86/entry/syscalls/syscall_64.tbl).
mod number {
    pub(super) const FUTEX: [i16; 4] = [202, 449, 454, 455];
    pub(super) const EXIT: [i16; 2] = [60, 231];
    /// nanosleep, clock_nanosleep.
    pub(super) const SLEEP: [i16; 2] = [35, 230];
    /// read, write, readv, writev, sendfile, connect, accept, send and receive, splice.
    pub(super) const TRANSFER: [i16; 16] = [
        0, 1, 19, 20, 40, 42, 43, 44, 45, 46, 47, 275, 288, 299, 307, 276,
    ];
    /// poll, select, pselect6, ppoll, epoll_wait, epoll_pwait, epoll_pwait2, io_uring_enter.
    pub(super) const EVENTS: [i16; 8] = [7, 23, 270, 271, 232, 281, 441, 426];
    /// open, stat, pread64, pwrite64, msync, fsync, fdatasync, truncate, ftruncate, getdents,
    /// rename, mkdir, rmdir, creat, link, unlink, openat, unlinkat, renameat, sync, fallocate,
    /// preadv, pwritev, syncfs, sync_file_range, getdents64, newfstatat, statx, renameat2.
    pub(super) const FILE: [i16; 29] = [
        2, 4, 17, 18, 26, 74, 75, 76, 77, 78, 82, 83, 84, 85, 86, 87, 257, 263, 264, 162, 285, 295,
        296, 306, 277, 217, 262, 332, 316,
    ];
}

/// The part of a time in which a thread was blocked.
pub(super) fn classify_block(period: &OffCpu) -> HostPart {
    let call = period.syscall;
    // Outside of system calls: a page that is not in memory.
    let is_file = call < 0 || number::FILE.contains(&call) || number::TRANSFER.contains(&call);
    if period.is_io_wait || period.is_uninterruptible && is_file {
        return HostPart::Disk;
    }
    if period.is_uninterruptible {
        // Locks of the kernel, such as that of the address space.
        return HostPart::Lock;
    }
    if number::FUTEX.contains(&call) {
        return if is_woken_by_call(period) {
            HostPart::Lock
        } else {
            HostPart::Timer
        };
    }
    if number::SLEEP.contains(&call) {
        return HostPart::Timer;
    }
    if number::TRANSFER.contains(&call) {
        return HostPart::Network;
    }
    if number::EVENTS.contains(&call) {
        return classify_event(period);
    }
    if number::FILE.contains(&call) {
        return HostPart::Disk;
    }
    HostPart::Other
}

/// A thread unlocked, notified or ended; otherwise the time of the wait was over.
fn is_woken_by_call(period: &OffCpu) -> bool {
    let by = period.waker_syscall;
    number::FUTEX.contains(&by) || number::EXIT.contains(&by)
}

/// Of a thread that waited for any of several things, the one that came.
fn classify_event(period: &OffCpu) -> HostPart {
    let by_transfer = number::TRANSFER.contains(&period.waker_syscall);
    if period.is_woken_by_data {
        HostPart::Network
    } else if by_transfer && period.is_woken_by_own {
        // The write to an eventfd or pipe with which one thread of an event loop wakes another.
        HostPart::Lock
    } else if by_transfer {
        HostPart::Network
    } else {
        HostPart::Timer
    }
}
