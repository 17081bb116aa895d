//! Captures of every make: formats, link layers, connections, and Wireshark's
//! word on each packet.

mod connections;
mod formats;
mod frames;
mod hostile;
mod layers;
mod live;
mod oracle;
mod reassembly;
mod told;
mod traffic;
mod transformed;
mod tshark;
