//! How fast TLS is decrypted and dissected: `cargo run --release -p wirelab-trace --example
//! decrypt_speed [-- MEGABYTES]`. Prints megabytes of payload per CPU second, for each cipher
//! suite, and for the same records without secrets: one line of JSON each.

#![allow(
    clippy::disallowed_macros,
    reason = "words for whoever runs it by hand"
)]

use serde_json::json;

#[allow(dead_code)] // The tests use more of it.
#[path = "../tests/dissection/packet_builder.rs"]
mod packet_builder;
#[allow(dead_code)]
#[path = "../tests/dissection/tls_peers.rs"]
mod tls_peers;

use packet_builder::PacketBuilder;
use tls_peers::{Peers, suites};

/// Bytes of one reply.
const REPLY_BYTES: usize = 1_000_000;

fn main() {
    let megabytes = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let replies: usize = megabytes.unwrap_or(200);
    for (suite, version) in suites() {
        let peers = Peers::new(version, Some(suite));
        let mut builder = PacketBuilder::new();
        let mut talk = peers.connect(&mut builder);
        talk.client.set_buffer_limit(None);
        talk.server.set_buffer_limit(None);
        talk.handshake();
        for _ in 0..replies {
            talk.call("/", &[b'x'; REPLY_BYTES]);
        }
        talk.close();
        let encrypted = speed(&builder, 0);
        let decrypted = speed(builder.key_log(&peers.key_log()), replies as u64);
        let line = json!({
            "suite": format!("{:?}", suite.suite()),
            "decrypted_mb_per_s": decrypted,
            "encrypted_mb_per_s": encrypted,
        });
        println!("{line}");
    }
}

/// CPU time of this process so far, its part in the kernel included, seconds.
fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The best of three.
fn speed(builder: &PacketBuilder, exchanges: u64) -> f64 {
    let once = || {
        let begun = cpu_s();
        let dissection = builder.diagnose();
        let seconds = cpu_s() - begun;
        assert_eq!(dissection.exchanges.count, exchanges);
        dissection.accounting.total.all.packets.payload_bytes as f64 / 1e6 / seconds
    };
    (0..3).map(|_| once()).fold(0.0, f64::max)
}
