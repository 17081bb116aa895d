//! Conversations over TLS, as `fuzz_tls` reads them.

const C: u8 = 0;
const S: u8 = 1;
/// Finished; with another number behind it KeyUpdate.
const FINISHED: u8 = 0;
const KEY_UPDATE: u8 = 1 << 4;
/// Data in one segment.
const DATA: u8 = 2 << 1 | 9 << 4;
/// Data in segments of five bytes.
const PIECES: u8 = 3 << 1 | 1 << 4;
const LOST: u8 = 4 << 1;
/// The first half of the record is lost.
const HALF_LOST: u8 = 5 << 1 | 8 << 4;
const GARBAGE: u8 = 6 << 1;
const FIN: u8 = 7 << 1;

const REQUEST: &[u8] = b"GET /a HTTP/1.1\r\n\r\n";
const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

type Action = (u8, &'static [u8]);

/// Seeds by name.
pub fn conversations() -> Vec<(&'static str, Vec<u8>)> {
    let begin = [(S | FINISHED, &b""[..]), (C | FINISHED, b"")];
    let call = [(C | DATA, REQUEST), (S | PIECES, REPLY)];
    let updates = [(C | KEY_UPDATE, &b""[..]), (S | KEY_UPDATE, b"")];
    let lossy = [(C | LOST, REQUEST), (S | HALF_LOST, REPLY)];
    let end = [(C | GARBAGE, &b"\x17\x03\x03\x00\x20"[..]), (S | FIN, b"")];
    let scripts: [(&str, Vec<Action>); 3] = [
        ("calls", [begin, call, call, end].concat()),
        (
            "updates",
            [begin, call, updates, call, updates, call].concat(),
        ),
        ("lossy", [begin, call, lossy, call, end].concat()),
    ];
    let piece = |(action, payload): &Action| [&[*action, payload.len() as u8], *payload].concat();
    let script = |actions: Vec<Action>| actions.iter().flat_map(piece).collect();
    scripts
        .map(|(name, actions)| (name, script(actions)))
        .into()
}
