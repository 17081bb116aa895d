//! The HTTP/2 client against a peer that plays from a script.

mod calls;
mod connection;
mod fields;
mod flow;
mod hostile;
mod peer;
mod scripts;
