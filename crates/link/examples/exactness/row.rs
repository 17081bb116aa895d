//! One promise, and what was found.

use std::process::ExitCode;

use serde_json::json;

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    name: String,
    /// Of what a busy machine disturbs the best try counts; all are printed.
    tries: Vec<f64>,
    bound: Bound,
    promised: f64,
}

/// Which side of the promise is good.
#[derive(Debug, Clone, Copy)]
enum Bound {
    AtMost,
    AtLeast,
}

impl Row {
    /// A value that should be small: the best try is the least.
    pub fn at_most(name: String, promised: f64) -> Row {
        Row::new(name, Bound::AtMost, promised)
    }

    /// A value that should be large: the best try is the most.
    pub fn at_least(name: String, promised: f64) -> Row {
        Row::new(name, Bound::AtLeast, promised)
    }

    fn new(name: String, bound: Bound, promised: f64) -> Row {
        Row {
            name,
            tries: Vec::new(),
            bound,
            promised,
        }
    }

    /// One more try.
    pub fn add(&mut self, found: f64) {
        self.tries.push(found);
    }

    fn best(&self) -> f64 {
        let tries = self.tries.iter().copied();
        match self.bound {
            Bound::AtMost => tries.fold(f64::INFINITY, f64::min),
            Bound::AtLeast => tries.fold(f64::NEG_INFINITY, f64::max),
        }
    }

    fn met(&self) -> bool {
        match self.bound {
            Bound::AtMost => self.best() <= self.promised,
            Bound::AtLeast => self.best() >= self.promised,
        }
    }
}

impl Bound {
    fn text(self) -> &'static str {
        match self {
            Bound::AtMost => "at most",
            Bound::AtLeast => "at least",
        }
    }
}

/// JSON lines on standard output, the table on standard error; exit code 1
/// when a promise was not kept.
pub fn print(rows: &[Row]) -> ExitCode {
    for row in rows {
        let Row {
            name,
            tries,
            promised,
            ..
        } = row;
        let bound = row.bound.text();
        println!(
            "{}",
            json!({"name": name, "tries": tries, "bound": bound, "promised": promised})
        );
        // The median next to the best shows how much the machine disturbed.
        let mut sorted = tries.clone();
        sorted.sort_by(f64::total_cmp);
        eprintln!(
            "{} {name:<62} best {:>12.3}  median {:>12.3}  {bound} {promised}",
            if row.met() { "ok  " } else { "MISS" },
            row.best(),
            sorted[sorted.len() / 2],
        );
    }
    match rows.iter().all(Row::met) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(1),
    }
}
