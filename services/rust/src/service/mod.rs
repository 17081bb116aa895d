//! What the calls of one service process share, and how a call is served outside HTTP.

pub(crate) mod database;
pub(crate) mod exchange;
pub(crate) mod state;
