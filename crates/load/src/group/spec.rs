//! A plan's groups, checked and made ready to run.

use wirelab_stack::{Binding, BindingFamily, Connection, Stack};
use wirelab_wire::{Request, giop, http1, raw, websocket};

use crate::call::clock::ns;
use crate::call::fault;
use crate::call::result::Fault;
use crate::connection::session_factory::SessionFactory;
use crate::connection::socket::SocketOptions;
use crate::connection::tls_files::Secure;
use crate::group::Spec;
use crate::group::prepared::Prepared;
use crate::plan::legality::{check_group, check_socket};
use crate::plan::part::share;
use crate::plan::target::{Target, TargetError};
use crate::plan::{Group, HeadLimits, Load, Plan, Stage, Warmup, Window};
use crate::record::first_calls::FIRST_CALLS_MAX;
use crate::record::slow_calls::SLOWEST_MAX;
use crate::request::forward::Object;
use crate::validate::step::Step;

/// Threads that one engine process may have.
pub(crate) const THREADS_MAX: u32 = 256;

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
    let both = plan.groups.iter().zip(prepared);
    both.map(|(group, prepared)| spec(plan, group, prepared))
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

fn spec(plan: &Plan, group: &Group, prepared: &Prepared) -> Result<Spec, Fault> {
    check_group(group)?;
    let object = group.object.as_deref().map(Object::parse).transpose()?;
    let target = target(plan.allow_any_target, group, object.as_ref())?;
    check_socket(&group.stack, &target)?;
    check_times(group)?;
    let in_flight_max = plan.own(in_flight_max(&group.load)? as u64) as usize;
    check_threads(plan.threads, in_flight_max)?;
    let authority = group
        .authority
        .clone()
        .unwrap_or_else(|| target.authority());
    Ok(Spec {
        script: prepared.script(&authority, |request| {
            check_request(group.stack.binding, request)
        })?,
        steps: prepared.steps.clone().into(),
        socket: SocketOptions::of(&group.stack),
        secure: Secure::of(group, &authority)?,
        report: report(plan, group)?,
        sessions: SessionFactory::of(group, object.map(|object| object.key))?
            .watching(prepared.watched().into_iter()),
        connections_max: connections_max(plan, &group.stack, in_flight_max)?,
        in_flight_max,
        keep: !group.stack.closes(),
        any_target: plan.allow_any_target,
        stop_ns: prepared
            .steps
            .iter()
            .filter_map(stop_ns)
            .min()
            .unwrap_or(u64::MAX),
        timeout_ns: ns(group.timeout_s),
        reconnect_delay_ns: ns(group.reconnect_delay_s),
        target,
    })
}

/// After how long a step's replies are ended from our side.
fn stop_ns(step: &Step) -> Option<u64> {
    step.validator.stream.as_ref().map(|rule| rule.stop_ns)
}

/// Where calls go: what the plan says, else where the object is.
pub(crate) fn target(any: bool, group: &Group, object: Option<&Object>) -> Result<Target, Fault> {
    let target = match (group.target.as_str(), object) {
        ("", Some(object)) => object.target(any),
        (text, _) => Target::parse(text, any),
    };
    target.map_err(|error| {
        let remedy = match error {
            TargetError::NotLocal(_) => {
                "load goes to this machine only; name the explicit flag (allow_any_target, --any-target) if you own the target"
            }
            _ => "write 127.0.0.1:PORT, [::1]:PORT or unix:/PATH",
        };
        fault::plan(error.to_string(), remedy)
    })
}

fn report(plan: &Plan, group: &Group) -> Result<Option<Target>, Fault> {
    let report = group.report.as_deref();
    let report = report.map(|report| Target::parse(report, plan.allow_any_target));
    report.transpose().map_err(|error| {
        fault::plan(
            format!("report: {error}"),
            "give the report address of the service's ready line",
        )
    })
}

/// Checks a request as its session demands.
fn check_request(binding: Binding, request: &Request) -> Result<(), Fault> {
    let checked = match binding.family() {
        // HTTP/2 carries the same method, path and fields: one check serves both.
        BindingFamily::Http => http1::check_request(request).map_err(|error| error.to_string()),
        BindingFamily::Websocket => {
            websocket::check_request(request).map_err(|error| error.to_string())
        }
        BindingFamily::Iiop => giop::check_request(request).map_err(|error| error.to_string()),
        BindingFamily::Raw => raw::check_request(request).map_err(|error| error.to_string()),
    };
    checked.map_err(|reason| {
        fault::plan(
            format!("request: {reason}"),
            "change the method, path or header",
        )
    })
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
    let HeadLimits { bytes, fields } = group.head_limits;
    if !(1_024..=16 << 20).contains(&bytes) || !(16..=65_536).contains(&fields) {
        return refuse(
            format!("head_limits = {bytes} bytes, {fields} fields"),
            "use 1,024 to 16,777,216 bytes and 16 to 65,536 fields",
        );
    }
    if !(0.0..=1e6).contains(&group.reconnect_delay_s) {
        return refuse(
            format!("reconnect_delay_s = {}", group.reconnect_delay_s),
            "use seconds, 0 or more, at most 1,000,000",
        );
    }
    if group.first_calls > FIRST_CALLS_MAX {
        return refuse(
            format!("first_calls = {}", group.first_calls),
            format!("use {FIRST_CALLS_MAX} at most"),
        );
    }
    if group.slowest > SLOWEST_MAX {
        return refuse(
            format!("slowest = {}", group.slowest),
            format!("use {SLOWEST_MAX} at most"),
        );
    }
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

/// Calls under way at most, of a load that can be made.
fn in_flight_max(load: &Load) -> Result<usize, Fault> {
    match load {
        Load::Closed {
            users,
            think_s,
            calls_per_pause,
            iterations,
            stages,
            ..
        } => {
            check_users(*users)?;
            if !(0.0..=1e6).contains(think_s) {
                return refuse(format!("think_s = {think_s}"), "use seconds, 0 or more");
            }
            if *calls_per_pause == 0 || *iterations == Some(0) {
                return refuse(
                    format!("calls_per_pause = {calls_per_pause}, iterations = {iterations:?}"),
                    "use 1 or more",
                );
            }
            if !stages.is_empty() {
                check_stages(stages, f64::from(*users), "users")?;
            }
            Ok(*users as usize)
        }
        Load::Constant {
            rate,
            in_flight_max,
        }
        | Load::Poisson {
            rate,
            in_flight_max,
            ..
        } => {
            check_rate(*rate)?;
            places(*in_flight_max)
        }
        Load::Stages {
            from,
            stages,
            in_flight_max,
            ..
        } => {
            if !(0.0..=RATE_MAX).contains(from) {
                return refuse(
                    format!("from = {from:?}"),
                    "use calls per second, 0 or more",
                );
            }
            check_stages(stages, RATE_MAX, "calls per second")?;
            places(*in_flight_max)
        }
        Load::Bursts {
            calls,
            rate,
            gap_s,
            in_flight_max,
            ..
        } => {
            rate.map_or(Ok(()), check_rate)?;
            let pauses = (0.0..=1e6).contains(gap_s) && (*gap_s > 0.0 || rate.is_some());
            if *calls == 0 || !pauses {
                return refuse(
                    format!("bursts of calls = {calls} with gap_s = {gap_s:?}"),
                    "use 1 call or more, and a gap above 0 where calls of a burst arrive at once",
                );
            }
            places(*in_flight_max)
        }
    }
}

/// Calls per second at most.
// A gap of 10 ns, which is less than a reading of the clock takes.
const RATE_MAX: f64 = 1e8;

/// Stages that a load may have.
const STAGES_MAX: usize = 10_000;

fn check_users(users: u32) -> Result<(), Fault> {
    match users {
        0 => refuse("users = 0", "ask for at least one user"),
        1..=USERS_MAX => Ok(()),
        _ => refuse(
            format!("users = {users}"),
            format!("use {USERS_MAX} users at most"),
        ),
    }
}

fn check_rate(rate: f64) -> Result<(), Fault> {
    match rate > 0.0 && rate <= RATE_MAX {
        true => Ok(()),
        false => refuse(
            format!("rate = {rate:?}"),
            "use calls per second above 0, at most 100,000,000",
        ),
    }
}

/// Stages whose levels are at most `most`, and that are not over at once.
fn check_stages(stages: &[Stage], most: f64, unit: &str) -> Result<(), Fault> {
    let legal =
        |stage: &Stage| (0.0..=most).contains(&stage.to) && (0.0..=1e6).contains(&stage.duration_s);
    if stages.len() > STAGES_MAX || !stages.iter().all(legal) {
        return refuse(
            format!("stages: one of {} is not legal", stages.len()),
            format!("use at most {STAGES_MAX} stages of 0 to {most} {unit} and 0 s or more"),
        );
    }
    match stages.iter().any(|stage| stage.duration_s > 0.0) {
        true => Ok(()),
        false => refuse(
            "stages: they take no time",
            "give one stage a duration above 0",
        ),
    }
}

fn places(in_flight_max: u32) -> Result<usize, Fault> {
    match in_flight_max {
        0 => refuse("in_flight_max = 0: no call could be made", "use 1 or more"),
        most => Ok(most as usize),
    }
}

fn connections_max(plan: &Plan, stack: &Stack, in_flight_max: usize) -> Result<usize, Fault> {
    let threads = plan.threads;
    let needed = match stack.connection {
        // Each call needs a connection of its own.
        Connection::Close => in_flight_max,
        Connection::Keep => connections_needed(in_flight_max, stack.in_flight, threads),
        Connection::Pool(count) => plan.own(u64::from(count)) as usize,
    };
    match needed >= threads as usize {
        true => Ok(needed),
        false => refuse(
            format!("threads = {threads} with {needed} connections: a thread would have none"),
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

#[cfg(test)]
mod tests {
    use super::*;

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
