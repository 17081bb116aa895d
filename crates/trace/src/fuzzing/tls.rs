//! Conversations over TLS, of which some records are authentic.

use super::{DiagnosedCounts, PacketBuilder, balance};
use crate::output::{Dissection, Dissector, Options};
use crate::packet::Flags;
use crate::protocol::tls::keylog::KeyLog;
use crate::protocol::tls::seal::Sealer;

const HANDSHAKE: u8 = 22;
const DATA: u8 = 23;

/// Both hellos of TLS 1.3 with TLS_AES_128_GCM_SHA256; the random of the client is all 1.
const CLIENT_HELLO: [&[u8]; 3] = [
    &[22, 3, 1, 0, 47, 1, 0, 0, 43, 3, 3],
    &[1; 32],
    &[0, 0, 2, 0x13, 1, 1, 0, 0, 0],
];
const SERVER_HELLO: [&[u8]; 3] = [
    &[22, 3, 3, 0, 50, 2, 0, 0, 46, 3, 3],
    &[2; 32],
    &[0, 0x13, 1, 0, 0, 6, 0, 43, 0, 2, 3, 4],
];

/// What both sides say within TLS: every piece is an action, a length and that many bytes.
/// Whatever is lost, changed or garbage, every byte has one layer and every call ends.
pub fn fuzz_tls(data: &[u8]) {
    dissect(data);
}

fn dissect(data: &[u8]) -> Dissection {
    let dissector = Dissector::new(Options::default(), DiagnosedCounts::default());
    let keys = KeyLog::read(key_log().as_bytes()).expect("memory");
    let mut dissector = dissector.with_keys(keys);
    let mut builder = PacketBuilder::new(&mut dissector);
    builder.handshake();
    builder.send(0, &CLIENT_HELLO.concat(), true);
    builder.send(1, &SERVER_HELLO.concat(), true);
    let mut sealers = [0, 1].map(|side| Sealer::new(&handshake(side), &traffic(side)));
    let mut rest = data;
    while let [action, length, after @ ..] = rest {
        let (payload, behind) = after.split_at(usize::from(*length).min(after.len()));
        rest = behind;
        let side = usize::from(action & 1);
        apply(*action, payload, &mut builder, &mut sealers[side]);
    }
    builder.flows.finish(&mut dissector);
    balance(dissector)
}

fn handshake(side: u8) -> [u8; 32] {
    [3 + side; 32]
}

fn traffic(side: u8) -> [u8; 32] {
    [5 + side; 32]
}

fn key_log() -> String {
    let line = |label: &str, secret: [u8; 32]| {
        let secret: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{label} {} {secret}\n", "01".repeat(32))
    };
    [
        line("CLIENT_HANDSHAKE_TRAFFIC_SECRET", handshake(0)),
        line("SERVER_HANDSHAKE_TRAFFIC_SECRET", handshake(1)),
        line("CLIENT_TRAFFIC_SECRET_0", traffic(0)),
        line("SERVER_TRAFFIC_SECRET_0", traffic(1)),
    ]
    .concat()
}

/// The lowest bit is the side, the next three what it does, the rest how.
fn apply(action: u8, payload: &[u8], builder: &mut PacketBuilder<'_>, sealer: &mut Sealer) {
    let side = usize::from(action & 1);
    let how = usize::from(action >> 4);
    match action >> 1 & 7 {
        // Finished, or KeyUpdate: other keys from here on.
        0 => {
            let message = [if how == 0 { 20 } else { 24 }, 0, 0, 0];
            let record = sealer.seal(HANDSHAKE, &message);
            builder.send(side, &record, true);
            sealer.advance();
        }
        1 => builder.send(side, &sealer.seal(how as u8 + 16, payload), true),
        2 | 3 => {
            let record = sealer.seal(DATA, payload);
            let pieces = record.chunks(how * how * 4 + 1);
            pieces.for_each(|piece| builder.send(side, piece, true));
        }
        4 => builder.send(side, &sealer.seal(DATA, payload), false),
        5 => {
            let record = sealer.seal(DATA, payload);
            let (first, second) = record.split_at(record.len() * how / 16);
            builder.send(side, first, false);
            builder.send(side, second, true);
        }
        6 => builder.send(side, payload, true),
        _ if how < 8 => builder.push(side, Flags(Flags::FIN.0 | Flags::ACK.0), b""),
        _ => builder.snap = how * how,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_of_the_fuzzer_is_decrypted() {
        // Finished of both sides, then a record of data.
        let request = b"GET / HTTP/1.1\r\n\r\n";
        let begin = [1, 0, 0, 0, 4, request.len() as u8];
        let dissection = dissect(&[&begin, &request[..]].concat());
        assert_eq!(dissection.tls.decrypted, 1, "{:?}", dissection.tls);
        assert_eq!(dissection.exchanges.by_name[0].name, "GET /");
    }
}
