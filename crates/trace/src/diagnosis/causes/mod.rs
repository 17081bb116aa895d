//! The patterns by which each cause is recognised.

pub(super) mod congestion;
pub(super) mod connection_setup;
pub(super) mod events_in_bursts;
pub(super) mod fragments;
pub(super) mod http2;
pub(super) mod identification;
pub(super) mod loss;
pub(super) mod reply;
pub(super) mod small_segments;
pub(super) mod windows;
