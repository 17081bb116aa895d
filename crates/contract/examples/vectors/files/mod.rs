//! The vector files by name, as they must be.

mod messages;
mod operations;
mod scripts;
mod streams;
mod texts;

use serde::Serialize;

/// Name and content of every vector file.
pub fn all() -> Vec<(&'static str, String)> {
    vec![
        ("texts.json", format_document(&texts::vectors())),
        ("messages.json", format_document(&messages::vectors())),
        ("operations.json", format_document(&operations::vectors())),
        ("scripts.json", format_document(&scripts::vectors())),
        ("streams.json", format_document(&streams::vectors())),
    ]
}

fn format_document(vectors: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(vectors).expect("vectors have string keys");
    text.push('\n');
    text
}
