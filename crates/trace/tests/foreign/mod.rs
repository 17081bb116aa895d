//! Captures as others make them: conversations with computed times, and the true account of
//! each.

mod attempts;
mod buffered;
mod clocks;
mod continues;
mod cut;
mod hellos;
mod late;
mod lookups;
mod losses;
mod message_causes;
mod message_scripts;
mod messages;
mod openings;
mod retries;
mod script;
mod slowest;
mod streams;
mod windows;
