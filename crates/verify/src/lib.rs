//! The differential test: a service is compared with the canonical model, call by call.
//!
//! [`examine`] generates calls of a contract, good and bad, gives each to the
//! model and to a [`Subject`], and compares the two answers. What it knows of
//! the subject is a trait: how calls travel is the business of whoever
//! implements it, so that the test itself can be tested against wrong models.
//!
//! Numbers that a service is free to choose (reservations, confirmations, groups, ids of rows) are
//! translated between model and subject, and must be positive and never given
//! twice.

#![deny(missing_docs)]

mod calendar;
mod charging;
mod clinic_ids;
mod difference;
mod exam;
mod finding;
mod items;
mod money;
mod numbers;
mod petclinic;
mod records;
mod streams;
mod subject;
mod transfer;
mod walk;

pub use exam::{Extent, examine};
pub use finding::{Exam, Finding, Section};
pub use subject::{Response, Subject, Subjects};
