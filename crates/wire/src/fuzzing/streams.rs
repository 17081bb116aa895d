//! Messages of streams. The first byte is the size of the pieces, in bytes, that the rest
//! arrives in; whatever it is, the messages are those of a parser that has the whole body.

use serde::de::IgnoredAny;

use crate::stream::{Events, Lines, Unpacker, chat};
use crate::{Encoding, gzip, zstd};

/// Bytes that a message may have here.
const MESSAGE_BYTES_MAX: usize = 1 << 10;

/// Bytes that a compressed body may have in it here.
const UNPACKED_BYTES_MAX: usize = 1 << 14;

/// Type, data and id of an event.
type Event = (Vec<u8>, Vec<u8>, Vec<u8>);

/// Server-Sent Events.
pub fn fuzz_sse(data: &[u8]) {
    let Some((step, body)) = data.split_first() else {
        return;
    };
    let (mut events, mut found) = (Events::new(MESSAGE_BYTES_MAX), Vec::new());
    for mut piece in body.chunks(usize::from(*step).max(1)) {
        loop {
            match events.next(&mut piece) {
                Err(_) => return,
                Ok(false) => break,
                Ok(true) => found.push((
                    events.event().to_vec(),
                    events.data().to_vec(),
                    events.id().to_vec(),
                )),
            }
        }
        assert!(piece.is_empty(), "a parser takes all that it is given");
    }
    // The last line is not checked before its end.
    let _ = events.finish();
    let whole = body.iter().rposition(|byte| matches!(byte, b'\r' | b'\n'));
    let text = str::from_utf8(&body[..whole.map_or(0, |end| end + 1)]);
    assert_eq!(found, events_of(text.expect("lines that were accepted")));
}

/// The algorithm of HTML section 9.2.6 step by step, on the whole text.
fn events_of(text: &str) -> Vec<Event> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (mut data, mut kind, mut id) = (String::new(), String::new(), String::new());
    let mut events = Vec::new();
    let lines = text.strip_suffix('\n').map(|lines| lines.split('\n'));
    for line in lines.into_iter().flatten() {
        if line.is_empty() {
            if let Some(data) = data.strip_suffix('\n') {
                let texts = [&kind, data, &id].map(|text| text.as_bytes().to_vec());
                events.push(texts.into());
            }
            (data, kind) = Default::default();
            continue;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => data = data + value + "\n",
            "event" => kind = value.to_owned(),
            "id" if !value.contains('\0') => id = value.to_owned(),
            _ => {}
        }
    }
    events
}

/// Lines of JSON.
pub fn fuzz_ndjson(data: &[u8]) {
    let Some((step, body)) = data.split_first() else {
        return;
    };
    let (mut lines, mut found) = (Lines::new(MESSAGE_BYTES_MAX), Vec::new());
    for mut piece in body.chunks(usize::from(*step).max(1)) {
        loop {
            match lines.next(&mut piece) {
                Err(_) => return,
                Ok(false) => break,
                Ok(true) => found.push(lines.line().to_vec()),
            }
        }
        assert!(piece.is_empty(), "a parser takes all that it is given");
    }
    match lines.finish() {
        Err(_) => return,
        Ok(last) => found.extend(last.then(|| lines.line().to_vec())),
    }
    let expected = body.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let expected: Vec<&[u8]> = expected.filter(|line| !line.is_empty()).collect();
    assert_eq!(found, expected);
}

/// Events of a chat completion, which are UTF-8 as their parser checked: what is read as a chunk
/// or an error is an object of JSON.
pub fn fuzz_chat(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    if let Ok(chat::Event::Chunk { .. } | chat::Event::Error(_)) = chat::read(data, |_| ()) {
        assert!(text.trim_ascii_start().starts_with('{'), "{text}");
        serde_json::from_str::<IgnoredAny>(text).expect("JSON that was read");
    }
}

/// Compressed bodies of streams. The second byte says how: what the whole has in it comes in pieces,
/// too.
pub fn fuzz_unpacker(data: &[u8]) {
    let Some(([step, coding], body)) = data.split_first_chunk() else {
        return;
    };
    let (encoding, whole) = match coding % 2 {
        0 => (
            Encoding::Gzip,
            gzip::decompress(body, UNPACKED_BYTES_MAX).ok(),
        ),
        _ => (
            Encoding::Zstd,
            zstd::decompress(body, UNPACKED_BYTES_MAX).ok(),
        ),
    };
    let found = unpack(encoding, body.chunks(usize::from(*step).max(1)));
    if let Some(whole) = whole {
        assert_eq!(found, Some(whole));
    }
}

/// What is in the pieces of a body; None where it is broken, or more than the bound.
fn unpack<'a>(encoding: Encoding, pieces: impl Iterator<Item = &'a [u8]>) -> Option<Vec<u8>> {
    let mut unpacker = Unpacker::new(encoding).expect("a coding");
    let (mut room, mut found) = ([0; 100], Vec::new());
    for mut piece in pieces {
        loop {
            let given = unpacker.next(&mut piece, &mut room).ok()?;
            found.extend_from_slice(&room[..given]);
            if given == 0 {
                break;
            }
            if found.len() > UNPACKED_BYTES_MAX {
                return None;
            }
        }
        assert!(
            piece.is_empty(),
            "a decompressor takes all that it is given"
        );
    }
    unpacker.finish().is_ok().then_some(found)
}
