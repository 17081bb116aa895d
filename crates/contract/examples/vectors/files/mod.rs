//! The vector files by name, as they must be.

mod messages;
mod operations;
mod scripts;
mod texts;

use serde::Serialize;

/// Name and content of every vector file.
pub fn all() -> Vec<(&'static str, String)> {
    vec![
        ("texts.json", written(&texts::vectors())),
        ("messages.json", written(&messages::vectors())),
        ("operations.json", written(&operations::vectors())),
        ("scripts.json", written(&scripts::vectors())),
    ]
}

fn written(vectors: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(vectors).expect("vectors have string keys");
    text.push('\n');
    text
}
