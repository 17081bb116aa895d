//! Inputs that are kept: `corpus/TARGET/NAME`.

use std::path::{Path, PathBuf};

use crate::seeds::Seed;

pub fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target)
}

/// The inputs of a target in the order of their names.
pub fn read(target: &str) -> Vec<Vec<u8>> {
    let folder = folder(target);
    let entries = std::fs::read_dir(&folder).expect("a corpus; run with WIRELAB_WRITE_CORPUS=1");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .iter()
        .map(|file| std::fs::read(file).unwrap())
        .collect()
}

pub fn write(seeds: &[Seed]) {
    for seed in seeds {
        let folder = folder(seed.target);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(&seed.name), &seed.bytes).unwrap();
    }
}
