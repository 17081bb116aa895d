#!/bin/sh
# Builds the service. CARGO_TARGET_DIR is a folder of built crates that services may share.
set -eu
target=${CARGO_TARGET_DIR:-target}
cargo build --release --locked --color=never --target-dir "$target"
cp "$target/release/wirelab-generated-service" service
