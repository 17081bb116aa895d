//! What a dissection says of connections that are written out by hand: layers,
//! exchanges, sums, ladders.

mod giop;
mod http1;
mod http2;
mod ladders;
mod load;
mod one_sided;
mod others;
mod packet_builder;
mod pairing;
mod slowest;
mod sums;
mod tls;
mod tls_loss;
mod tls_peers;
