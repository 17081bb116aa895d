//! Writes `contracts/vectors/`: `cargo run -p wirelab-contract --example vectors`.

mod files;

use std::fs;
use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts/vectors");
    fs::create_dir_all(&folder)?;
    for (name, content) in files::all() {
        fs::write(folder.join(name), content)?;
        println!("contracts/vectors/{name}");
    }
    Ok(())
}
