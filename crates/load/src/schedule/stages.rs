//! A level that changes over time in straight lines: users of a closed load, or the rate of
//! an open one (k6's ramping executors, JMeter's stepping thread group).

use crate::plan::Stage;

/// A piecewise linear level. Times are seconds since the load began.
#[derive(Debug, Clone, PartialEq)]
pub struct Stages {
    /// Start, level there, end, level there. Their times are contiguous.
    segments: Vec<Segment>,
    /// The level after the last segment.
    last: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Segment {
    start: f64,
    from: f64,
    end: f64,
    to: f64,
}

impl Segment {
    fn level(&self, at: f64) -> f64 {
        match self.end > self.start {
            true => self.from + (self.to - self.from) * (at - self.start) / (self.end - self.start),
            false => self.to,
        }
    }

    /// The area under the segment: arrivals, where the level is a rate.
    fn area(&self) -> f64 {
        f64::midpoint(self.from, self.to) * (self.end - self.start)
    }

    /// When the area since its start is `area`, which is at most [`Segment::area`].
    fn time_of(&self, area: f64) -> f64 {
        let slope = match self.end > self.start {
            true => (self.to - self.from) / (self.end - self.start),
            false => return self.end,
        };
        // from t + slope t^2 / 2 = area, solved in the form that does not cancel where the
        // slope is small (Press et al., Numerical Recipes, 5.6).
        let root = (self.from * self.from + 2.0 * slope * area).max(0.0).sqrt();
        let sum = self.from + root;
        match sum > 0.0 {
            true => self.start + 2.0 * area / sum,
            // An area of 0 at a level of 0: 0 / 0 would be NaN.
            false => self.start,
        }
    }
}

/// The mean of the level rounded up, while it changes evenly from `low` to `high`.
fn mean_rounded_up(low: f64, high: f64) -> f64 {
    // The integral of ceil(x) from 0: 1 + 2 + … + n, and the rest at n + 1.
    let integral = |x: f64| {
        let n = x.floor();
        n * (n + 1.0) / 2.0 + (x - n) * (n + 1.0)
    };
    match high - low > 1e-9 {
        true => (integral(high) - integral(low)) / (high - low),
        false => high.ceil(),
    }
}

impl Stages {
    /// Begins at the level `from` and goes through `stages`. A stage of 0 s is a step.
    #[must_use]
    pub fn new(from: f64, stages: &[Stage]) -> Stages {
        let (mut start, mut level) = (0.0, from);
        let mut segments = Vec::new();
        for stage in stages {
            let end = start + stage.duration_s;
            segments.push(Segment {
                start,
                from: level,
                end,
                to: stage.to,
            });
            (start, level) = (end, stage.to);
        }
        Stages {
            segments,
            last: level,
        }
    }

    /// The level at a time; the last one after the end.
    #[must_use]
    pub fn level(&self, at: f64) -> f64 {
        // At its end a segment is over: a step of 0 s is never found, and what follows
        // it holds.
        let segment = self.segments.iter().find(|segment| at < segment.end);
        segment.map_or(self.last, |segment| segment.level(at))
    }

    /// When the area under the level reaches `area`: the time of the arrival of that
    /// number. None: not before the end.
    #[must_use]
    pub fn time_of(&self, area: f64) -> Option<f64> {
        let mut left = area;
        for segment in &self.segments {
            let area = segment.area();
            if left < area {
                return Some(segment.time_of(left));
            }
            left -= area;
        }
        None
    }

    /// The area under stage `index` between two times that lie within it: arrivals, or
    /// seconds of users. `whole`: of the level rounded up, as users are counted.
    #[must_use]
    pub fn area(&self, index: usize, from: f64, until: f64, whole: bool) -> f64 {
        let Some(segment) = self.segments.get(index).filter(|_| until > from) else {
            return 0.0;
        };
        let (low, high) = (segment.level(from), segment.level(until));
        let mean = match whole {
            true => mean_rounded_up(low.min(high), low.max(high)),
            false => f64::midpoint(low, high),
        };
        mean * (until - from)
    }

    /// The first time, from `at` on, at which the level is above `user`: when user number
    /// `user`, counted from 0, may call. None: never again.
    #[must_use]
    pub fn active_from(&self, user: u32, at: f64) -> Option<f64> {
        let user = f64::from(user);
        for segment in self.segments.iter().filter(|segment| segment.end > at) {
            let first = at.max(segment.start);
            if segment.level(first) > user {
                return Some(first);
            }
            if segment.to > user {
                // Positive: the level was `user` at most at `first`, and is above it at the
                // segment's end.
                let rise = (user - segment.from) / (segment.to - segment.from);
                return Some(first.max(segment.start + rise * (segment.end - segment.start)));
            }
        }
        let end = self.segments.last().map_or(0.0, |segment| segment.end);
        (self.last > user).then_some(at.max(end))
    }
}

/// How many users call, over time.
#[derive(Debug)]
pub(crate) struct Presence {
    stages: Stages,
    /// When the load began, nanoseconds.
    origin: u64,
    /// When each segment ends, nanoseconds, and how many users call throughout it. Most
    /// calls need no more than these two integers.
    throughout: Vec<(u64, u32)>,
}

impl Presence {
    /// Users of a load that began at `origin`, nanoseconds.
    pub(crate) fn new(stages: Stages, origin: u64) -> Presence {
        let after = Segment {
            start: 0.0,
            from: stages.last,
            end: f64::INFINITY,
            to: stages.last,
        };
        let of = |segment: &Segment| {
            // User k calls while the level is above k. Casts saturate: a level below 0 has
            // nobody, and the last segment does not end.
            let users = segment.from.min(segment.to).ceil() as u32;
            (origin.saturating_add((segment.end * 1e9) as u64), users)
        };
        Presence {
            throughout: stages.segments.iter().chain([&after]).map(of).collect(),
            stages,
            origin,
        }
    }

    /// When the user may call next, from `at` on; None: never again.
    pub(crate) fn next(&self, user: u32, at: u64) -> Option<u64> {
        let now = self.throughout.iter().find(|(end, _)| at < *end);
        if now.is_some_and(|(_, users)| user < *users) {
            return Some(at);
        }
        self.next_by_level(user, at)
    }

    fn next_by_level(&self, user: u32, at: u64) -> Option<u64> {
        let since = at.saturating_sub(self.origin) as f64 / 1e9;
        let active = self.stages.active_from(user, since)?;
        // Anything not later is now, whatever the division has rounded away.
        Some(match active <= since {
            true => at,
            false => self.origin + (active * 1e9) as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(from: f64, of: &[(f64, f64)]) -> Stages {
        let stage = |(to, duration_s): &(f64, f64)| Stage {
            to: *to,
            duration_s: *duration_s,
        };
        Stages::new(from, &of.iter().map(stage).collect::<Vec<_>>())
    }

    #[test]
    fn users_start_one_after_another_and_leave_in_the_reverse_order() {
        let ramp = stages(0.0, &[(4.0, 8.0), (4.0, 10.0), (0.0, 4.0)]);
        for (user, start) in [(0, 0.0), (1, 2.0), (2, 4.0), (3, 6.0)] {
            assert_eq!(ramp.active_from(user, 0.0), Some(start));
        }
        assert_eq!(ramp.active_from(4, 0.0), None);
        // While the level holds they go on at once; as it falls they stop.
        assert_eq!(ramp.active_from(3, 12.5), Some(12.5));
        assert_eq!(ramp.active_from(3, 19.5), None);
        assert_eq!(ramp.active_from(0, 20.9), Some(20.9));
        assert_eq!(ramp.active_from(0, 22.0), None);
    }

    #[test]
    fn steps_hold_and_a_pause_ends_when_the_level_rises_again() {
        let steps = stages(
            0.0,
            &[(2.0, 0.0), (2.0, 5.0), (0.0, 0.0), (0.0, 5.0), (1.0, 0.0)],
        );
        assert_eq!(steps.active_from(1, 0.0), Some(0.0));
        assert_eq!(steps.active_from(1, 5.0), None);
        assert_eq!(steps.active_from(0, 6.0), Some(10.0));
        assert_eq!(steps.active_from(0, 60.0), Some(60.0));
    }

    #[test]
    fn arrivals_of_a_ramp_follow_its_area() {
        // 0 to 10 per second in 10 s: 50 arrivals, the k-th at sqrt(2 k).
        let ramp = stages(0.0, &[(10.0, 10.0), (10.0, 1.0), (0.0, 2.0)]);
        for k in [0.0, 2.0, 8.0, 32.0, 49.0] {
            let at = ramp.time_of(k).unwrap();
            assert!((at - (2.0_f64 * k).sqrt()).abs() < 1e-9, "{k}: {at}");
        }
        assert!((ramp.time_of(55.0).unwrap() - 10.5).abs() < 1e-9);
        // Falling: 60 arrivals before, then 10 t - 2.5 t^2.
        assert!((ramp.time_of(67.5).unwrap() - 12.0).abs() < 1e-9);
        assert_eq!(ramp.time_of(70.0), None);
        assert_eq!(
            (ramp.level(5.0), ramp.level(12.0), ramp.level(99.0)),
            (5.0, 5.0, 0.0)
        );
    }

    #[test]
    fn areas_of_parts_of_stages_are_those_of_users_and_of_arrivals() {
        let ramp = stages(0.0, &[(4.0, 8.0), (4.0, 10.0), (0.0, 4.0)]);
        let users = |index, from, until| ramp.area(index, from, until, true);
        // User k starts at 2 k: 1 + 2 + 3 + 4 users for 2 s each.
        assert!((users(0, 0.0, 8.0) - 20.0).abs() < 1e-9);
        assert!((users(0, 1.0, 3.0) - 3.0).abs() < 1e-9);
        assert!((users(1, 8.0, 18.0) - 40.0).abs() < 1e-9);
        assert!((users(2, 18.0, 22.0) - 10.0).abs() < 1e-9);
        assert!((ramp.area(0, 0.0, 8.0, false) - 16.0).abs() < 1e-9);
        assert!((ramp.area(2, 20.0, 22.0, false) - 2.0).abs() < 1e-9);
        assert_eq!((users(1, 9.0, 9.0), users(9, 0.0, 1.0)), (0.0, 0.0));
    }

    #[test]
    fn users_who_call_throughout_a_segment_are_those_that_the_level_lets_call() {
        let level = [
            (3.0, 0.0),
            (3.0, 2.0),
            (1.5, 1.0),
            (5.0, 3.0),
            (0.0, 0.0),
            (2.0, 1.0),
        ];
        for origin in [0, 7_000_000_123] {
            let presence = Presence::new(stages(0.0, &level), origin);
            let mut at_once = 0;
            for at in (0..9_000_000_000).step_by(12_345_678) {
                for user in 0..6 {
                    let next = presence.next(user, origin + at);
                    assert_eq!(next, presence.next_by_level(user, origin + at));
                    at_once += u32::from(next == Some(origin + at));
                }
            }
            assert!(at_once > 500);
        }
    }

    #[test]
    fn a_level_that_hardly_changes_loses_no_digits() {
        let flat = stages(1e6, &[(1e6 + 1e-6, 100.0)]);
        assert!((flat.time_of(5e7).unwrap() - 50.0).abs() < 1e-9);
    }
}
