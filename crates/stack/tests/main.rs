//! The axis table.

mod stacks;
