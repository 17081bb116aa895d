//! Writes `contracts/vectors/encodings.json`: `cargo run -p wirelab-wire --example encodings`.

mod encodings;
mod values;
mod xml_variants;

use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts/vectors");
    fs::write(folder.join("encodings.json"), encodings::written())?;
    println!("contracts/vectors/encodings.json");
    Ok(())
}
