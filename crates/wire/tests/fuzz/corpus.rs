//! Inputs that are kept: seeds in `corpus/TARGET/NAME`, and what a search found to lead
//! somewhere new in `corpus/TARGET.base64`, one a line (`fuzz/search.py` writes them).

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// An input of the corpus.
pub struct Seed {
    pub target: &'static str,
    pub name: String,
    pub bytes: Vec<u8>,
}

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target)
}

/// The inputs of a target: its seeds in the order of their names, then what was found.
pub fn read(target: &str) -> Vec<Vec<u8>> {
    let mut inputs = seeds(target);
    inputs.extend(found(target));
    inputs
}

/// # Panics
/// Without the file, or where a line is not base64.
fn found(target: &str) -> Vec<Vec<u8>> {
    let file = folder(target).with_extension("base64");
    let text = std::fs::read_to_string(&file).expect("found inputs; run fuzz/search.py");
    let lines = text.lines().map(|line| STANDARD.decode(line));
    lines.collect::<Result<_, _>>().expect("base64")
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = folder(target);
    let entries = std::fs::read_dir(&folder).expect("a corpus; run with WIRELAB_WRITE_CORPUS=1");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .iter()
        .map(|file| std::fs::read(file).unwrap())
        .collect()
}

/// Holds the corpus of every target against its seeds; with WIRELAB_WRITE_CORPUS
/// it is written first.
///
/// # Panics
/// Where a seed is missing or another one, and where a target has fewer than two.
pub fn holds(seeds: &[Seed], targets: &[&str]) {
    if std::env::var_os("WIRELAB_WRITE_CORPUS").is_some() {
        write(seeds);
    }
    for target in targets {
        let count = seeds.iter().filter(|seed| seed.target == *target).count();
        // Two, because one mutation joins the ends of two inputs.
        assert!(count >= 2, "{target} has {count} seeds");
    }
    for seed in seeds {
        assert!(targets.contains(&seed.target), "{}", seed.target);
        let file = folder(seed.target).join(&seed.name);
        assert_eq!(
            std::fs::read(&file).ok().as_ref(),
            Some(&seed.bytes),
            "{} is not fresh; run with WIRELAB_WRITE_CORPUS=1",
            file.display()
        );
    }
}

fn write(seeds: &[Seed]) {
    for seed in seeds {
        let folder = folder(seed.target);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(&seed.name), &seed.bytes).unwrap();
    }
}
