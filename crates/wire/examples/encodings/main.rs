//! Writes `contracts/vectors/encodings.json` and `envelopes.json`:
//! `cargo run -p wirelab-wire --example encodings`.

mod encodings;
mod envelopes;
mod values;
mod xml_variants;

use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts/vectors");
    for (name, content) in [
        ("encodings.json", encodings::format_document()),
        ("envelopes.json", envelopes::format_document()),
    ] {
        fs::write(folder.join(name), content)?;
        println!("contracts/vectors/{name}");
    }
    Ok(())
}
