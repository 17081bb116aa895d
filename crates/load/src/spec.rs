//! A plan's groups, checked and made ready to run.

use std::sync::Arc;

use wirelab_wire::{Request, http1, http2};

use crate::clock::ns;
use crate::fault;
use crate::group::{Speaks, Spec};
use crate::plan::{
    Binding, Codec, Compression, Group, Load, Plan, Stack, Transport, Warmup, Window, Writes,
};
use crate::process::receive_buffer_max;
use crate::result::Fault;
use crate::socket::SocketOptions;
use crate::target::{Target, TargetError};
use crate::workload::Prepared;

/// Threads that one engine process may have.
const THREADS_MAX: u32 = 256;

/// The largest window of HTTP/2 that is never the limit.
const WINDOW_BYTES: u32 = (1 << 30) - 1;

/// The largest window that HTTP/2 has (RFC 9113 section 6.9.1), in bytes.
const H2_WINDOW_MAX: u32 = (1 << 31) - 1;

/// Users of a closed load; each costs memory from the start.
const USERS_MAX: u32 = 10_000_000;

/// Checks the whole plan and makes each group's [`Spec`].
pub(crate) fn all(plan: &Plan, prepared: &[Prepared]) -> Result<Vec<Spec>, Fault> {
    if !(1..=THREADS_MAX).contains(&plan.threads) {
        return refuse(
            format!("threads = {}", plan.threads),
            format!("use 1 to {THREADS_MAX}"),
        );
    }
    if plan.groups.is_empty() {
        return refuse("groups: there are none", "name at least one group of calls");
    }
    if plan.groups.len() != prepared.len() {
        return Err(fault::internal("not every group's workload was prepared"));
    }
    check_windows(plan)?;
    let both = plan.groups.iter().zip(prepared).enumerate();
    both.map(|(number, (group, prepared))| spec(plan, group, prepared, number as u32))
        .collect()
}

/// Groups share one window, which either time or calls can close.
fn check_windows(plan: &Plan) -> Result<(), Fault> {
    let timed = |group: &Group| matches!(group.window, Window::DurationS(_));
    let mixed = plan.groups.iter().any(timed) && !plan.groups.iter().all(timed);
    match mixed {
        false => Ok(()),
        true => refuse(
            "window: some groups have duration_s, others calls",
            "give all groups of a plan one kind of window",
        ),
    }
}

fn refuse<T>(message: impl Into<String>, remedy: impl Into<String>) -> Result<T, Fault> {
    Err(fault::plan(message, remedy))
}

fn spec(plan: &Plan, group: &Group, prepared: &Prepared, number: u32) -> Result<Spec, Fault> {
    let target = target(plan, group)?;
    check_socket(&group.stack, &target)?;
    check_times(group)?;
    let in_flight_max = in_flight_max(&group.load)?;
    check_threads(plan.threads, in_flight_max)?;
    let authority = group
        .authority
        .clone()
        .unwrap_or_else(|| target.authority());
    let request = request(prepared, number, authority);
    http1::check_request(&request).map_err(|error| {
        fault::plan(
            format!("request: {error}"),
            "change the method, path or header",
        )
    })?;
    Ok(Spec {
        request: Arc::new(request),
        judge: Arc::clone(&prepared.judge),
        socket: SocketOptions::of(&group.stack),
        speaks: speaks(&group.stack),
        connections_max: connections_max(&group.stack, in_flight_max, plan.threads)?,
        in_flight_max,
        keep: !group.stack.connection.close,
        timeout_ns: ns(group.timeout_s),
        target,
    })
}

fn target(plan: &Plan, group: &Group) -> Result<Target, Fault> {
    Target::parse(&group.target, plan.allow_any_target).map_err(|error| {
        let remedy = match error {
            TargetError::NotLoopback(_) => {
                "load goes to this machine only; name the explicit flag (allow_any_target, --any-target) if you own the target"
            }
            _ => "write 127.0.0.1:PORT, [::1]:PORT or unix:/PATH",
        };
        fault::plan(error.to_string(), remedy)
    })
}

fn request(prepared: &Prepared, id: u32, authority: String) -> Request {
    Request {
        id,
        method: prepared.method.clone(),
        path: prepared.path.clone(),
        authority,
        fields: prepared.fields.clone(),
        body: Arc::clone(&prepared.body),
    }
}

/// Combinations that no engine could honour, each with the nearest legal one.
pub(crate) fn check_stack(stack: &Stack) -> Result<(), Fault> {
    let in_flight = stack.connection.in_flight.0;
    match (stack.binding, stack.codec, stack.transport) {
        (Binding::Grpc, Codec::Text | Codec::Json, _) => {
            return refuse("codec: grpc carries protobuf", "use codec=protobuf");
        }
        (Binding::Grpc, _, Transport::Http10 | Transport::Http11) => {
            return refuse("transport: grpc needs HTTP/2", "use transport=http/2");
        }
        (Binding::Rest, Codec::Protobuf, _) => {
            return refuse(
                "codec: rest speaks text and json",
                "use codec=json or codec=text",
            );
        }
        _ => {}
    }
    match (in_flight, stack.connection.close, stack.transport) {
        (0, ..) => refuse(
            "in_flight = 0: no call could be made",
            "use in_flight 1 or more",
        ),
        (2.., true, _) => refuse(
            "connection=close carries one call per connection",
            "use in_flight=1, or connection=keep",
        ),
        (2.., _, Transport::Http10) => refuse(
            "HTTP/1.0 has no pipelining",
            "use in_flight=1, or transport=http/1.1",
        ),
        _ => Ok(()),
    }
}

/// Options that the client's sockets and HTTP/2 would not honour.
fn check_socket(stack: &Stack, target: &Target) -> Result<(), Fault> {
    let of_tcp = [
        ("nagle", stack.nagle),
        ("quickack", stack.quickack.is_some()),
        ("tcp_window", stack.tcp_window.is_some()),
    ];
    if let (Target::Unix(_), Some((name, _))) = (target, of_tcp.iter().find(|(_, set)| *set)) {
        return refuse(
            format!("{name}: a Unix socket has no such option"),
            format!("leave {name} out, or use a TCP target"),
        );
    }
    let kernel_max = receive_buffer_max();
    if let Some(bytes) = stack.tcp_window.filter(|bytes| *bytes > kernel_max) {
        return refuse(
            format!("tcp_window = {bytes}: this kernel gives at most {kernel_max} bytes"),
            "use less, or raise net.core.rmem_max",
        );
    }
    match stack.h2_window {
        None | Some(1..=H2_WINDOW_MAX) => Ok(()),
        Some(bytes) => refuse(
            format!("h2_window = {bytes}: HTTP/2 has windows of 1 to {H2_WINDOW_MAX} bytes"),
            "use bytes within that range",
        ),
    }
}

/// A thread without a place for a call would leave its share of them undone.
fn check_threads(threads: u32, in_flight_max: usize) -> Result<(), Fault> {
    match in_flight_max >= threads as usize {
        true => Ok(()),
        false => refuse(
            format!(
                "threads = {threads} with {in_flight_max} calls in flight at most: a thread would have none"
            ),
            "use as many threads as calls in flight (users, in_flight_max) at most",
        ),
    }
}

fn check_times(group: &Group) -> Result<(), Fault> {
    let positive = |name: &str, value: f64| match value.is_finite() && value > 0.0 && value <= 1e6 {
        true => Ok(()),
        false => refuse(
            format!("{name} = {value}"),
            "use seconds above 0, at most 1,000,000",
        ),
    };
    positive("timeout_s", group.timeout_s)?;
    positive("drain_s", group.drain_s)?;
    match group.window {
        Window::DurationS(duration_s) => positive("duration_s", duration_s)?,
        Window::Calls { calls: 0, .. } => return refuse("calls = 0", "ask for at least one call"),
        Window::Calls { max_s, .. } => positive("max_s", max_s)?,
    }
    let Warmup { min_s, max_s } = group.warmup;
    match min_s >= 0.0 && max_s >= 0.0 && min_s.max(max_s) <= 1e6 {
        true => Ok(()),
        false => refuse(
            format!("warmup = {min_s} to {max_s}"),
            "use seconds, 0 or more",
        ),
    }
}

fn in_flight_max(load: &Load) -> Result<usize, Fault> {
    let limit = match *load {
        Load::Closed { users: 0, .. } => return refuse("users = 0", "ask for at least one user"),
        Load::Closed { users, .. } if users > USERS_MAX => {
            return refuse(
                format!("users = {users}"),
                format!("use {USERS_MAX} users at most"),
            );
        }
        Load::Closed { think_s, .. } if !(0.0..=1e6).contains(&think_s) => {
            return refuse(format!("think_s = {think_s}"), "use seconds, 0 or more");
        }
        Load::Constant { rate, .. } | Load::Poisson { rate, .. }
            if !(rate > 0.0 && rate <= 1e8) =>
        {
            return refuse(
                format!("rate = {rate}"),
                "use calls per second above 0, at most 100,000,000",
            );
        }
        Load::Constant {
            in_flight_max: 0, ..
        }
        | Load::Poisson {
            in_flight_max: 0, ..
        } => {
            return refuse("in_flight_max = 0: no call could be made", "use 1 or more");
        }
        Load::Closed { users, .. } => users,
        Load::Constant { in_flight_max, .. } | Load::Poisson { in_flight_max, .. } => in_flight_max,
    };
    Ok(limit as usize)
}

fn connections_max(stack: &Stack, in_flight_max: usize, threads: u32) -> Result<usize, Fault> {
    let wanted = match (stack.connection.close, stack.connection.count) {
        (true, _) => in_flight_max,
        (false, None) => connections_needed(in_flight_max, stack.connection.in_flight.0, threads),
        (false, Some(0)) => return refuse("connections = 0", "use pool=1 or more"),
        (false, Some(count)) => count as usize,
    };
    match wanted >= threads as usize {
        true => Ok(wanted),
        false => refuse(
            format!("threads = {threads} with {wanted} connections: a thread would have none"),
            "use as many threads as connections at most",
        ),
    }
}

/// Enough for every thread's own share of the calls.
fn connections_needed(in_flight_max: usize, in_flight: u32, threads: u32) -> usize {
    let shares = (0..threads).map(|index| share(in_flight_max as u64, index, threads));
    shares
        .map(|share| share.div_ceil(u64::from(in_flight)) as usize)
        .sum()
}

/// The part of `whole` that falls to the `index`-th of `parts`.
pub(crate) fn share(whole: u64, index: u32, parts: u32) -> u64 {
    let (index, parts) = (u64::from(index), u64::from(parts));
    whole / parts + u64::from(index < whole % parts)
}

fn speaks(stack: &Stack) -> Speaks {
    let split_writes = stack.writes == Writes::Split;
    let in_flight = stack.connection.in_flight.0;
    let http1 = |version| {
        Speaks::Http1(http1::Options {
            version,
            close: stack.connection.close,
            pipeline: in_flight,
            split_writes,
        })
    };
    match stack.transport {
        Transport::Http10 => http1(http1::Version::Http10),
        Transport::Http11 => http1(http1::Version::Http11),
        Transport::Http2 => Speaks::Http2(http2::Options {
            stream_window: stack.h2_window.unwrap_or(WINDOW_BYTES),
            connection_window: stack.h2_window.unwrap_or(WINDOW_BYTES),
            split_writes,
            max_streams: in_flight,
            ..http2::Options::default()
        }),
    }
}

/// Fields that ask for compressed replies, by binding.
pub(crate) fn accepts(stack: &Stack) -> Option<(String, String)> {
    match (stack.compression, stack.binding) {
        (Compression::None, _) => None,
        (Compression::Gzip, Binding::Rest) => Some(("accept-encoding".into(), "gzip".into())),
        (Compression::Gzip, Binding::Grpc) => Some(("grpc-accept-encoding".into(), "gzip".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_whole() {
        for (whole, parts) in [(0, 1), (7, 3), (1_000_001, 4), (2, 5)] {
            let sum: u64 = (0..parts).map(|index| share(whole, index, parts)).sum();
            assert_eq!(sum, whole);
        }
    }

    #[test]
    fn every_thread_has_connections_for_its_own_share_of_the_calls() {
        for (calls, in_flight, threads) in
            [(10, 4, 2), (8, 4, 2), (9, 4, 2), (400, 1, 3), (7, 7, 7)]
        {
            let needed = connections_needed(calls, in_flight, threads) as u64;
            for index in 0..threads {
                let places = share(needed, index, threads) * u64::from(in_flight);
                let own = share(calls as u64, index, threads);
                assert!(
                    places >= own,
                    "{calls} {in_flight} {threads}: {places} for {own}"
                );
                assert!(places < own + u64::from(in_flight));
            }
        }
    }
}
