//! Network namespaces, made for one link and removed with it.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::{fmt, io, thread};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use wirelab_contract::print_error;

use crate::error::LinkError;
use crate::kernel::iproute;

/// Where iproute2 keeps the names of namespaces (ip-netns(8)).
const FOLDER: &str = "/run/netns";

/// A named network namespace that ends with this value.
#[derive(Debug)]
pub(crate) struct Namespace {
    name: String,
}

impl Namespace {
    pub(crate) fn create(name: String) -> Result<Self, LinkError> {
        iproute::ip(&["netns", "add", &name])?;
        Ok(Namespace { name })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Runs `inside` on a thread of its own that is in the namespace. Sockets
    /// and devices that it makes stay there wherever they are used.
    pub(crate) fn enter<T: Send>(
        &self,
        inside: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        // Opened here, where an error of the name is not one of the thread.
        let namespace = File::open(self.path())?;
        thread::scope(|scope| {
            let thread = thread::Builder::new().name("inside".into());
            let entered = thread.spawn_scoped(scope, move || {
                // setns(2) moves the calling thread alone.
                move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
                inside()
            })?;
            let panicked = |_| io::Error::other("the thread inside the namespace panicked");
            entered.join().unwrap_or_else(|panic| Err(panicked(panic)))
        })
    }

    fn path(&self) -> PathBuf {
        Path::new(FOLDER).join(&self.name)
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.name)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Only the name goes: the kernel keeps the namespace until the last process and socket
        // in it has ended.
        if let Err(error) = iproute::ip(&["netns", "delete", &self.name]) {
            print_error!("wirelab: {error}");
        }
    }
}

#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) client: Namespace,
    pub(crate) server: Namespace,
}

impl Pair {
    /// Named after this process, so that a later start can tell whether their owner still runs.
    pub(crate) fn create() -> Result<Self, LinkError> {
        let pid = std::process::id();
        Ok(Pair {
            client: Namespace::create(format!("wl-{pid}-c"))?,
            // If this fails, the client's is dropped, and so removed.
            server: Namespace::create(format!("wl-{pid}-s"))?,
        })
    }
}

/// Removes the namespaces of processes that have ended, and returns their names.
pub(crate) fn remove_stale() -> Result<Vec<String>, LinkError> {
    let stale = stale().map_err(LinkError::during(FOLDER))?;
    let mut removed = Vec::new();
    for name in stale {
        match iproute::ip(&["netns", "delete", &name]) {
            Ok(()) => removed.push(name),
            // Another start removed it first.
            Err(_) if !Path::new(FOLDER).join(&name).exists() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(removed)
}

fn stale() -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(FOLDER) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        // Another process may have the number by now: its namespaces then stay until
        // that one ends.
        if owner(&name).is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The process id in the name of a link's namespace.
fn owner(name: &str) -> Option<u32> {
    let (pid, side) = name.strip_prefix("wl-")?.split_once('-')?;
    matches!(side, "c" | "s")
        .then(|| pid.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_links_have_an_owner() {
        assert_eq!(owner("wl-4711-c"), Some(4711));
        assert_eq!(owner("wl-4711-s"), Some(4711));
        for other in [
            "wl-4711-x",
            "wl-c",
            "wl-a-c",
            "mine",
            "wl-4711-c2",
            "wl--1-c",
        ] {
            assert_eq!(owner(other), None, "{other}");
        }
    }
}
