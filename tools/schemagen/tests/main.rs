//! The program `schemagen`.

mod contracts;
