//! GIOP against bytes derived by hand from CORBA 3.3 part 2, section 9.4, and
//! against scripted peers.

mod client;
mod error_handling;
mod golden;
mod references;
mod server;
mod wire;
