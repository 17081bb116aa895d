//! The committed vectors, and the messages in JSON.

mod json_mapping;
mod vectors;
