//! Times one parser in this process: the first parse apart; then warm-up until calm, which
//! counts once [`Plan::is_warm`], or until its bound; then blocks of parses, the documents in
//! turn.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde::Serialize;

use crate::parsers::{Document, Parser};

/// The bounds of a measurement; the window is for each document, shared by its blocks.
pub(crate) struct Plan {
    pub(crate) warmup: Duration,
    pub(crate) window: Duration,
    pub(crate) blocks: u32,
}

impl Plan {
    /// Whether calm may end a warm-up of that number of parses and that time.
    pub(crate) fn is_warm(&self, parses: u64, elapsed: Duration) -> bool {
        parses >= WARM_PARSES && elapsed >= self.warmup.mul_f64(WARM_SHARE)
    }
}

/// What one document took.
#[derive(Serialize)]
pub(crate) struct Times {
    name: String,
    fingerprint: String,
    parses: u64,
    elapsed_ns: u64,
    /// The mean parse of each block.
    block_ns: Vec<f64>,
}

/// What the process measured.
#[derive(Serialize)]
pub(crate) struct Timed {
    first_ns: u64,
    warmup_ns: u64,
    calm: bool,
    documents: Vec<Times>,
}

/// Rounds of warm-up whose means must lie within [`CALM`] of each other.
const ROUNDS: usize = 5;
const CALM: f64 = 1.05;
/// Parses and share of the bound that calm alone does not end a warm-up before: the same in
/// every language, for Java's compiler.
const WARM_PARSES: u64 = 20_000;
const WARM_SHARE: f64 = 0.5;
/// The least length of a round: the clock does not disturb it.
const ROUND: Duration = Duration::from_millis(10);

struct Subject<'d> {
    document: &'d Document,
    parser: Parser,
    expected: u64,
    parse_ns: f64,
}

/// Measures a parser.
pub(crate) fn measure(parser: Parser, documents: &[Document], plan: &Plan) -> Result<Timed> {
    let start = Instant::now();
    parser.parse(&documents[0])?;
    let first_ns = nanoseconds(start.elapsed());
    let mut subjects = Vec::with_capacity(documents.len());
    for document in documents {
        let expected = parser.parse(document)?;
        subjects.push(Subject {
            document,
            parser,
            expected,
            parse_ns: 0.0,
        });
    }
    let start = Instant::now();
    let calm = warm_up(&mut subjects, plan)?;
    let warmup_ns = nanoseconds(start.elapsed());
    Ok(Timed {
        first_ns,
        warmup_ns,
        calm,
        documents: blocks(&subjects, plan)?,
    })
}

/// Returns whether the last rounds took equally long.
fn warm_up(subjects: &mut [Subject<'_>], plan: &Plan) -> Result<bool> {
    let (start, mut parses) = (Instant::now(), 0);
    let share = ROUND / u32::try_from(subjects.len())?;
    let mut recent = Vec::with_capacity(ROUNDS + 1);
    loop {
        let mut total = 0.0;
        for subject in &mut *subjects {
            let (begun, mut count) = (Instant::now(), 0_u64);
            while begun.elapsed() < share {
                subject.block(1)?;
                count += 1;
            }
            parses += count;
            subject.parse_ns = begun.elapsed().as_nanos() as f64 / count as f64;
            total += subject.parse_ns;
        }
        recent.push(total);
        if recent.len() > ROUNDS {
            recent.remove(0);
        }
        let high = recent.iter().copied().fold(f64::MIN, f64::max);
        let low = recent.iter().copied().fold(f64::MAX, f64::min);
        let calm = recent.len() == ROUNDS && high / low < CALM;
        let elapsed = start.elapsed();
        if elapsed > plan.warmup || calm && plan.is_warm(parses, elapsed) {
            return Ok(calm);
        }
    }
}

fn blocks(subjects: &[Subject<'_>], plan: &Plan) -> Result<Vec<Times>> {
    let mut times = Vec::with_capacity(subjects.len());
    for subject in subjects {
        times.push(Times {
            name: subject.document.name.clone(),
            fingerprint: subject.parser.fingerprint(subject.document)?,
            parses: 0,
            elapsed_ns: 0,
            block_ns: Vec::new(),
        });
    }
    let block_ns = plan.window.as_nanos() as f64 / f64::from(plan.blocks);
    for _ in 0..plan.blocks {
        for (subject, times) in subjects.iter().zip(&mut times) {
            let count = ((block_ns / subject.parse_ns) as u64).max(1);
            let start = Instant::now();
            subject.block(count)?;
            let took = nanoseconds(start.elapsed());
            times.parses += count;
            times.elapsed_ns += took;
            times.block_ns.push(took as f64 / count as f64);
        }
    }
    Ok(times)
}

impl Subject<'_> {
    /// Parses that many times, and proves that each parse read all of the document.
    fn block(&self, count: u64) -> Result<()> {
        let mut sum = 0_u64;
        for _ in 0..count {
            sum = sum.wrapping_add(self.parser.parse(self.document)?);
        }
        let name = &self.document.name;
        ensure!(
            sum == count.wrapping_mul(self.expected),
            "parses of {name} differ from the first one"
        );
        Ok(())
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
