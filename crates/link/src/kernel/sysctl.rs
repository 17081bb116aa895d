//! TCP settings that a network namespace has for itself: files below
//! /proc/sys/net/ipv4, which show the namespace of the thread that opens them.

use std::path::Path;
use std::{fs, io};

use wirelab_contract::refusal::Refusal;

use crate::error::LinkError;
use crate::kernel::namespace::Namespace;
use crate::model::config::{AfterIdle, LinkConfig};
use crate::model::profile::MTU;

const FOLDER: &str = "/proc/sys/net/ipv4";

/// ip-sysctl(7): whether the congestion window starts again after a pause.
const AFTER_IDLE: &str = "tcp_slow_start_after_idle";

/// ip-sysctl(7): least, usual and largest receive buffer of a socket, bytes.
const RECEIVE_BUFFER: &str = "tcp_rmem";

/// ip-sysctl(7): whether a port in TIME-WAIT may serve a new connection. The
/// kernel's rule, on loopback only, would make links differ from loopback by
/// more than the link: after 14,116 connections that the caller closed, each
/// new one searches half of the ports in vain, and after 28,232 none is left.
const TIME_WAIT_REUSE: &str = "tcp_tw_reuse";

/// Receive buffer per segment of an initial window, bytes. The kernel offers
/// half of a buffer as long as it has seen no packet (tcp_win_from_space).
const BUFFER_PER_SEGMENT: u64 = 2 * MTU as u64;

/// Sets what the configuration asks for, and leaves alone what is so already.
pub(crate) fn set(namespace: &Namespace, config: &LinkConfig) -> Result<(), LinkError> {
    let refused = |option: &str, error: io::Error| {
        Refusal::new(
            option,
            format!("the kernel's settings of TCP in {namespace} do not take it: {error}"),
            "use a machine on which /proc/sys/net/ipv4 can be written, or leave it out",
        )
    };
    let folder = Path::new(FOLDER);
    namespace
        .enter(|| write_if_changed(&folder.join(TIME_WAIT_REUSE), "1"))
        .map_err(|error| refused("profile", error))?;
    namespace
        .enter(|| write_if_changed(&folder.join(AFTER_IDLE), setting(config.after_idle)))
        .map_err(|error| refused("after_idle", error))?;
    let Some(segments) = config.initcwnd else {
        return Ok(());
    };
    namespace
        .enter(|| raise_receive_buffer(&folder.join(RECEIVE_BUFFER), segments))
        .map_err(|error| refused("initcwnd", error).into())
}

pub(crate) fn read_after_idle(namespace: &Namespace) -> io::Result<AfterIdle> {
    let text = namespace.enter(|| fs::read_to_string(Path::new(FOLDER).join(AFTER_IDLE)))?;
    match text.trim() {
        "0" => Ok(AfterIdle::Keep),
        _ => Ok(AfterIdle::Restart),
    }
}

fn setting(after_idle: AfterIdle) -> &'static str {
    match after_idle {
        AfterIdle::Restart => "1",
        AfterIdle::Keep => "0",
    }
}

// Where /proc/sys is mounted read-only, as in many containers, a setting that is right already
// is still good enough.
fn write_if_changed(file: &Path, value: &str) -> io::Result<()> {
    match fs::read_to_string(file)?.trim() == value {
        true => Ok(()),
        false => fs::write(file, value),
    }
}

/// Lets receivers offer from the start what a first flight of that number of segments
/// needs: one that offered less would be the limit in its place. The route
/// attribute initrwnd cannot do that, it makes the first offer smaller only.
fn raise_receive_buffer(file: &Path, segments: u32) -> io::Result<()> {
    let text = fs::read_to_string(file)?;
    write_if_changed(file, &raise(&text, segments)?)
}

fn raise(text: &str, segments: u32) -> io::Result<String> {
    let sizes: Vec<u64> = text
        .split_whitespace()
        .map_while(|word| word.parse().ok())
        .collect();
    let [least, usual, most] = sizes[..] else {
        return Err(io::Error::other(format!("{text:?} are not three sizes")));
    };
    let needed = u64::from(segments) * BUFFER_PER_SEGMENT;
    // Never smaller: the kernel's own sizes are those that loopback has.
    let (usual, most) = (usual.max(needed), most.max(needed));
    Ok(format!("{least}\t{usual}\t{most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_grow_to_what_a_first_flight_needs_and_never_shrink() {
        let kernels = "4096\t131072\t6291456\n";
        assert_eq!(raise(kernels, 10).unwrap(), "4096\t131072\t6291456");
        assert_eq!(raise(kernels, 1_000).unwrap(), "4096\t3000000\t6291456");
        assert_eq!(
            raise("4096 131072 200000", 100).unwrap(),
            "4096\t300000\t300000"
        );
        assert!(raise("4096 many", 10).is_err());
    }
}
