//! Captures of every kind: formats, link layers, connections, and Wireshark's
//! analysis of each packet.

mod connections;
mod copies;
mod events;
mod formats;
pub mod frames;
mod hostile;
mod layers;
mod live;
mod networks;
mod reassembly;
mod traffic;
mod transformed;
mod tshark;
mod tunnels;
