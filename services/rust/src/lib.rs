//! The embedded services.
