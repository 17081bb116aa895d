//! Digests of texts and patterns.

use serde::Serialize;
use wirelab_contract::model::sha256_hex;
use wirelab_contract::texts::{pattern, text};

// One output of the generator gives ten characters, and 14 has a text of its own: the sizes
// next to both are tried.
const SIZES_BYTES: [usize; 10] = [0, 1, 9, 10, 11, 14, 15, 1_000, 150_000, 3_000_000];

/// One size.
#[derive(Debug, Serialize)]
pub struct TextVector {
    bytes: usize,
    text_sha256: String,
    pattern_sha256: String,
}

pub fn vectors() -> Vec<TextVector> {
    SIZES_BYTES
        .into_iter()
        .map(|bytes| TextVector {
            bytes,
            text_sha256: sha256_hex(text(bytes).as_bytes()),
            pattern_sha256: sha256_hex(&pattern(bytes)),
        })
        .collect()
}
