//! The HTTP/2 client against a peer that plays from a script.

mod calls;
mod connection;
mod error_handling;
mod fields;
mod flow;
mod peer;
mod scripts;
