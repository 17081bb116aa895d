//! Captures, what a dissection makes of them, and a search for inputs that make either fail.

mod captures;
mod dissection;
mod foreign;
mod fuzz;
