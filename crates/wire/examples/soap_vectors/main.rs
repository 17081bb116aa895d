//! Writes `contracts/vectors/soap/`: `cargo run -p wirelab-wire --example soap_vectors`.

mod envelopes;

use std::fs;
use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts/vectors/soap");
    fs::create_dir_all(&folder)?;
    for (name, envelope) in envelopes::all() {
        fs::write(folder.join(&name), envelope)?;
        println!("contracts/vectors/soap/{name}");
    }
    Ok(())
}
