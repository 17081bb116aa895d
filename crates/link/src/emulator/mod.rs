//! The emulator between two TUN devices. [`shaper`] decides what happens to a
//! packet and does no I/O; [`lane`] carries one direction's packets; [`threads`]
//! runs the lanes.

pub(crate) mod bottleneck;
pub(crate) mod counters;
pub(crate) mod delay;
pub(crate) mod delay_queue;
pub(crate) mod lane;
pub(crate) mod loss;
pub(crate) mod rng;
pub(crate) mod scripted_drops;
pub(crate) mod segment;
pub(crate) mod shaper;
pub(crate) mod threads;
