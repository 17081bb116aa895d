//! Every header alone in a send, however the library and the kernel cut the bytes.

use super::*;

/// Sends as they would happen when the library offers pieces of `offer` bytes
/// and the kernel takes at most `take` of them.
fn sends(mut splitter: Splitter, bytes: &[u8], offer: usize, take: usize) -> Vec<Vec<u8>> {
    let mut sends = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let piece = &bytes[at..bytes.len().min(at.saturating_add(offer))];
        let allowed = splitter.clone().walk(piece).bytes.min(take);
        assert!(allowed > 0, "no progress at {at}");
        splitter.walk(&piece[..allowed]);
        sends.push(piece[..allowed].to_vec());
        at += allowed;
    }
    sends
}

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\ndate: x\r\n\r\n";
const BODY: &[u8] = b"\r\n\r\nab";

#[test]
fn http1_header_and_body_are_two_sends_for_each_of_several_replies() {
    let stream = [HEAD, BODY, HEAD, BODY].concat();
    let found = sends(
        Splitter::Http1(Http1::new()),
        &stream,
        usize::MAX,
        usize::MAX,
    );
    assert_eq!(found, [HEAD, BODY, HEAD, BODY]);
}

#[test]
fn http1_no_send_crosses_a_header_end_at_any_cut() {
    let stream = [HEAD, BODY, HEAD, BODY].concat();
    let ends = [
        HEAD.len(),
        HEAD.len() + BODY.len(),
        2 * HEAD.len() + BODY.len(),
    ];
    for (offer, take) in (1..60)
        .map(|n| (n, usize::MAX))
        .chain((1..60).map(|n| (usize::MAX, n)))
    {
        let mut at = 0;
        for send in sends(Splitter::Http1(Http1::new()), &stream, offer, take) {
            assert!(!ends.iter().any(|&end| at < end && end < at + send.len()));
            at += send.len();
        }
        assert_eq!(at, stream.len());
    }
}

#[test]
fn http1_bodies_of_unknown_length_go_on_and_empty_ones_end() {
    let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".as_slice();
    let stream = [chunked, b"1\r\na\r\n\r\n\r\nrest"].concat();
    let found = sends(
        Splitter::Http1(Http1::new()),
        &stream,
        usize::MAX,
        usize::MAX,
    );
    assert_eq!(found.len(), 2);
    let empty = b"HTTP/1.1 404 x\r\ncontent-length: 0\r\n\r\n".as_slice();
    let stream = [empty, HEAD, BODY].concat();
    let found = sends(
        Splitter::Http1(Http1::new()),
        &stream,
        usize::MAX,
        usize::MAX,
    );
    assert_eq!(found, [empty, HEAD, BODY]);
}

fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, 1], payload].concat()
}

#[test]
fn http2_data_follows_headers_in_a_send_of_its_own() {
    let settings = frame(4, 0, &[0; 6]);
    let headers = frame(HEADERS, END_HEADERS, b"head");
    let data = frame(0, 0, &[7; 300]);
    let trailers = frame(HEADERS, END_HEADERS | END_STREAM, b"t");
    let stream = [settings, headers.clone(), data, trailers, headers].concat();
    for take in [usize::MAX, 1, 2, 7, 10, 100] {
        let mut at = 0;
        let end = 9 + 6 + 9 + 4;
        for send in sends(Splitter::Http2(Http2::default()), &stream, usize::MAX, take) {
            assert!(!(at < end && end < at + send.len()), "{at} {}", send.len());
            at += send.len();
        }
    }
    let whole = sends(
        Splitter::Http2(Http2::default()),
        &stream,
        usize::MAX,
        usize::MAX,
    );
    let lengths: Vec<usize> = whole.iter().map(Vec::len).collect();
    assert_eq!(lengths, [28, 309 + 10 + 13]);
}

#[test]
fn http2_headers_end_with_their_last_continuation() {
    let open = frame(HEADERS, 0, b"he");
    let more = frame(CONTINUATION, END_HEADERS, b"ad");
    let data = frame(0, END_STREAM, b"body");
    let stream = [open, more, data.clone()].concat();
    let found = sends(
        Splitter::Http2(Http2::default()),
        &stream,
        usize::MAX,
        usize::MAX,
    );
    assert_eq!(found, [stream[..22].to_vec(), data]);
}
