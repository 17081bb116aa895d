//! Captures as others make them: conversations with computed times, and the true account of
//! each.

mod losses;
mod script;
