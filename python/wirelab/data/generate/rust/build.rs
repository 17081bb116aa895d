//! Does nothing: cargo reads build-dependencies only of packages that have a build script.

fn main() {}
