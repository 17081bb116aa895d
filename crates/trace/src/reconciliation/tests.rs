//! Logs and captures made by hand.
