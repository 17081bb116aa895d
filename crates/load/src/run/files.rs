//! Open files: the kernel limits how many a process has, and every connection is one.
//!
//! The limit is of the numbers in a table of open files (RLIMIT_NOFILE, getrlimit(2)).
//! The threads of a process share one table until one leaves it (CLONE_FILES of
//! unshare(2)). Where one table cannot hold a load's connections, each load thread gets
//! its own, and there are as many threads as that takes. All else stays shared: users,
//! arrivals, window and records are spread over threads as in any other plan.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::thread;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::call::fault;
use crate::call::result::{Fault, FileTables};
use crate::group::Spec;
use crate::group::prepared::Prepared;
use crate::group::spec::{self, THREADS_MAX};
use crate::plan::part::share;
use crate::plan::target::Target;
use crate::plan::{Plan, Wait};
use crate::reactor::thread::own_table;

/// Files of a thread that are not connections.
const SPARE: u64 = 64;

/// A plan whose connections fit into the files that its threads may open.
pub(crate) struct Fit<'a> {
    pub(crate) plan: Cow<'a, Plan>,
    pub(crate) specs: Vec<Spec>,
    /// Each thread has a table of its own; None: one holds all connections.
    pub(crate) tables: Option<FileTables>,
}

/// Checks the plan, and gives it more threads where one table of open files is too small.
///
/// # Errors
/// A fault of the plan, or of a machine that cannot hold that number of connections.
pub(crate) fn fit<'a>(plan: &'a Plan, prepared: &[Prepared]) -> Result<Fit<'a>, Fault> {
    let specs = spec::all(plan, prepared)?;
    check_ports(&specs)?;
    let (needed, limit) = (total(&specs), open_files_max());
    if needed + SPARE <= limit {
        return Ok(Fit {
            plan: Cow::Borrowed(plan),
            specs,
            tables: None,
        });
    }
    try_own_table().map_err(|error| fault::one_file_table(needed, limit, &error))?;
    spread(plan, prepared, specs, limit)
}

fn spread<'a>(
    plan: &Plan,
    prepared: &[Prepared],
    mut specs: Vec<Spec>,
    limit: u64,
) -> Result<Fit<'a>, Fault> {
    let needed = total(&specs);
    let mut plan = plan.clone();
    loop {
        let threads = threads_needed(&connections(&specs), plan.threads, limit)
            .ok_or_else(|| fault::too_many_connections(needed, limit))?;
        if threads == plan.threads {
            let tables = FileTables { threads, limit };
            return Ok(Fit {
                plan: Cow::Owned(plan),
                specs,
                tables: Some(tables),
            });
        }
        plan.threads = threads;
        // More threads than were asked for have no cores to themselves.
        plan.wait = Wait::Sleep;
        // Again: how many connections multiplexed calls need depends on the threads.
        specs = spec::all(&plan, prepared).map_err(|cause| fault::unsplit(needed, limit, cause))?;
    }
}

/// Connections of each group.
fn connections(specs: &[Spec]) -> Vec<u64> {
    let each = specs.iter().map(|spec| spec.connections_max as u64);
    each.collect()
}

fn total(specs: &[Spec]) -> u64 {
    connections(specs).iter().sum()
}

/// The fewest threads, `least` or more, whose shares of the groups' connections fit into
/// `limit` open files each.
fn threads_needed(connections: &[u64], least: u32, limit: u64) -> Option<u32> {
    // The first thread's share is the largest of each group.
    let largest = |threads| connections.iter().map(move |most| share(*most, 0, threads));
    (least..=THREADS_MAX).find(|threads| largest(*threads).sum::<u64>() + SPARE <= limit)
}

/// A connection also takes a local port, which its target's other connections cannot have.
fn check_ports(specs: &[Spec]) -> Result<(), Fault> {
    let mut needed: BTreeMap<String, u64> = BTreeMap::new();
    for spec in specs {
        if let Target::Tcp(address) = spec.target {
            *needed.entry(address.to_string()).or_default() += spec.connections_max as u64;
        }
    }
    let ports = local_ports().unwrap_or(u64::MAX);
    match needed.into_iter().find(|(_, most)| *most > ports) {
        None => Ok(()),
        Some((target, most)) => Err(fault::too_few_ports(most, &target, ports)),
    }
}

/// Ports that connections may have which name none (ip(7)), in this network namespace.
fn local_ports() -> Option<u64> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut ends = range.split_whitespace().map(str::parse::<u64>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    (last + 1).checked_sub(first)
}

/// Raises the soft limit of open files to the hard one and returns it.
fn open_files_max() -> u64 {
    let hard = getrlimit(Resource::Nofile).maximum;
    let raised = Rlimit {
        current: hard,
        maximum: hard,
    };
    // What the kernel granted counts, not what was asked for.
    let _granted = setrlimit(Resource::Nofile, raised);
    // None is RLIM_INFINITY.
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Whether threads may have tables of their own: sandboxes can forbid it (seccomp(2)).
fn try_own_table() -> io::Result<()> {
    let tried = thread::Builder::new().spawn(own_table)?.join();
    tried.unwrap_or_else(|_| Err(io::Error::other("the thread that tried it panicked")))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use super::*;

    #[test]
    fn as_few_threads_are_taken_as_hold_all_connections() {
        let limit = 1_024;
        for groups in [&[3_000][..], &[960], &[961], &[960, 960], &[19_000, 7, 333]] {
            let threads = threads_needed(groups, 1, limit).unwrap();
            let of = |index, threads| -> u64 {
                let shares = groups.iter().map(|most| share(*most, index, threads));
                shares.sum()
            };
            assert!((0..threads).all(|index| of(index, threads) + SPARE <= limit));
            let whole: u64 = (0..threads).map(|index| of(index, threads)).sum();
            assert_eq!(whole, groups.iter().sum::<u64>());
            assert!(threads == 1 || of(0, threads - 1) + SPARE > limit);
        }
        assert_eq!(threads_needed(&[3_000], 8, limit), Some(8));
        assert_eq!(threads_needed(&[1], 1, SPARE), None);
        assert_eq!(threads_needed(&[1_000_000], 1, limit), None);
    }

    /// Whether a table of open files has this one, as proc(5) shows it.
    fn holds(table: &str, path: &Path) -> bool {
        let files = fs::read_dir(table).unwrap().flatten();
        files
            .filter_map(|file| fs::read_link(file.path()).ok())
            .any(|target| target == path)
    }

    #[test]
    fn files_that_a_thread_opens_in_its_own_table_are_not_in_the_others() {
        let path = std::env::temp_dir().join(format!("wirelab-files-{}", std::process::id()));
        let theirs = path.clone();
        let opener = thread::spawn(move || {
            own_table().unwrap();
            let file = File::create(&theirs).unwrap();
            let seen = (
                holds("/proc/thread-self/fd", &theirs),
                holds("/proc/self/fd", &theirs),
            );
            drop(file);
            seen
        });
        let (own, process) = opener.join().unwrap();
        fs::remove_file(&path).unwrap();
        assert!(own && !process, "{own} {process}");
    }

    #[test]
    fn the_range_of_local_ports_is_known() {
        assert!((1..=65_536).contains(&local_ports().unwrap()));
    }
}
