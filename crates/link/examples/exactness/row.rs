//! One promise, and what was found.

use std::process::ExitCode;

use serde::Serialize;

/// A row of the table.
#[derive(Debug, Serialize)]
pub struct Row {
    name: String,
    found: f64,
    tries: Vec<f64>,
    bound: &'static str,
    promised: f64,
    kept: bool,
}

impl Row {
    /// What should be small: the best try is the least.
    pub fn at_most(name: String, tries: Vec<f64>, promised: f64) -> Row {
        let found = tries.iter().copied().fold(f64::INFINITY, f64::min);
        Row {
            name,
            found,
            tries,
            bound: "at most",
            promised,
            kept: found <= promised,
        }
    }

    /// What should be large: the best try is the most.
    pub fn at_least(name: String, tries: Vec<f64>, promised: f64) -> Row {
        let found = tries.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Row {
            name,
            found,
            tries,
            bound: "at least",
            promised,
            kept: found >= promised,
        }
    }
}

/// JSON lines on standard output, the table on standard error; exit code 1
/// when a promise was not kept.
pub fn print(rows: &[Row]) -> ExitCode {
    for row in rows {
        match serde_json::to_string(row) {
            Ok(line) => println!("{line}"),
            Err(error) => eprintln!("exactness: {error}"),
        }
        let mut tries = row.tries.clone();
        tries.sort_by(f64::total_cmp);
        eprintln!(
            "{} {:<62} best {:>12.3}  median {:>12.3}  {} {}",
            if row.kept { "ok  " } else { "MISS" },
            row.name,
            row.found,
            tries[tries.len() / 2],
            row.bound,
            row.promised
        );
    }
    match rows.iter().all(|row| row.kept) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(1),
    }
}
