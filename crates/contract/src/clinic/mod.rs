//! The clinic of `petclinic`: its rows at the start, the limits of its requests, the tables
//! in memory, and its HTTP routes.

pub mod limits;
pub mod routes;
pub mod seed;
pub(crate) mod tables;

pub use tables::ROWS_MAX;
