//! Inputs that every search begins with: the seeds of a target, what made it fail once
//! (`corpus/TARGET/found-…`), and what a search found to lead somewhere new
//! (`corpus/TARGET.base64`, one a line; `fuzz/search.py` writes it).

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// An input to begin with, made by `seeds.rs`.
#[derive(Clone)]
pub struct Seed {
    pub target: &'static str,
    pub name: String,
    pub bytes: Vec<u8>,
}

/// The folder of a target's inputs that are files.
pub fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target)
}

/// The inputs of a target: its seeds in the order of their names, then what was found.
pub fn read(target: &str, mut seeds: Vec<Seed>) -> Vec<Vec<u8>> {
    seeds.retain(|seed| seed.target == target);
    seeds.sort_by(|one, other| one.name.cmp(&other.name));
    let mut inputs: Vec<_> = seeds.into_iter().map(|seed| seed.bytes).collect();
    inputs.extend(failures(target));
    inputs.extend(read_packed(target));
    inputs
}

/// Inputs that made a target fail before its parser was fixed.
fn failures(target: &str) -> Vec<Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder(target)) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| {
        file.file_name()
            .unwrap()
            .as_encoded_bytes()
            .starts_with(b"found-")
    });
    files.sort();
    files
        .iter()
        .map(|file| std::fs::read(file).unwrap())
        .collect()
}

/// # Panics
/// Without the file, or where a line is not base64.
fn read_packed(target: &str) -> Vec<Vec<u8>> {
    let file = folder(target).with_extension("base64");
    let text = std::fs::read_to_string(&file).expect("found inputs; run fuzz/search.py");
    let lines = text.lines().map(|line| STANDARD.decode(line));
    lines.collect::<Result<_, _>>().expect("base64")
}

/// Checks that each target has two seeds, because one mutation joins the ends of two
/// inputs. With WIRELAB_WRITE_SEEDS, writes them into `TARGET/NAME` below that folder, for
/// libFuzzer.
///
/// # Panics
/// Where a target has fewer than two, or a seed belongs to none.
pub fn check(seeds: &[Seed], targets: &[&str]) {
    for target in targets {
        let count = seeds.iter().filter(|seed| seed.target == *target).count();
        assert!(count >= 2, "{target} has {count} seeds");
    }
    for seed in seeds {
        assert!(targets.contains(&seed.target), "{}", seed.target);
    }
    if let Some(root) = std::env::var_os("WIRELAB_WRITE_SEEDS") {
        for seed in seeds {
            let folder = Path::new(&root).join(seed.target);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(&seed.name), &seed.bytes).unwrap();
        }
    }
}
