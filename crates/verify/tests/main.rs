//! The examination of services.

mod examination;
