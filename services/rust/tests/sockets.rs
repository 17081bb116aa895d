//! Options of sockets, as the other end of the connection sees them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use serde_json::json;
use wirelab_contract::texts;

use crate::harness::frames::{self, Frame, frames};
use crate::harness::{Service, block_on, grpc, rest, rest2};

/// Segments with data that the peer has sent (tcp_info, linux/tcp.h).
fn data_segments(stream: &TcpStream) -> u32 {
    // tcpi_data_segs_in of struct tcp_info.
    const OFFSET: usize = 152;
    let mut info = [0_u8; 256];
    let mut size = info.len() as libc::socklen_t;
    // SAFETY: the descriptor is open; buffer and size live and belong together.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut size,
        )
    };
    assert!(result == 0 && size as usize >= OFFSET + 4);
    u32::from_ne_bytes(info[OFFSET..OFFSET + 4].try_into().unwrap())
}

/// Calls Hello by HTTP/1.1 and reads the reply, which ends in `end`.
fn hello_http1(stream: &mut TcpStream, end: &[u8]) {
    stream
        .write_all(b"GET /transfer/hello HTTP/1.1\r\nhost: x\r\n\r\n")
        .unwrap();
    let mut reply = Vec::new();
    let mut buffer = [0; 4096];
    while !reply.ends_with(end) {
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&reply));
        reply.extend_from_slice(&buffer[..read]);
    }
}

/// Reads until a frame is found that `matches` accepts.
fn read_until(stream: &mut TcpStream, matches: impl Fn(&Frame) -> bool) -> Vec<Frame> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    while !frames(&bytes).iter().any(&matches) {
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0);
        bytes.extend_from_slice(&buffer[..read]);
    }
    frames(&bytes)
}

/// The fewest of three counts: a busy machine causes retransmissions, which count too.
fn fewest(count: impl Fn() -> u32) -> u32 {
    let counts = [count(), count(), count()];
    counts.into_iter().fold(u32::MAX, u32::min)
}

fn segments_http1(writes: &str) -> u32 {
    let service = Service::start(&rest("text"), json!({"socket": {"writes": writes}}));
    assert_eq!(service.ready["set"]["writes"], writes);
    let mut stream = service.connect();
    for _ in 0..10 {
        hello_http1(&mut stream, b"Hello, wirelab");
    }
    data_segments(&stream)
}

#[test]
fn http1_replies_take_one_send_joined_and_two_split() {
    assert_eq!(fewest(|| segments_http1("joined")), 10);
    assert_eq!(fewest(|| segments_http1("split")), 20);
}

fn segments_grpc(writes: &str) -> u32 {
    let service = Service::start(&grpc(), json!({"socket": {"writes": writes}}));
    let mut stream = service.connect();
    stream.write_all(&frames::preface()).unwrap();
    let mut before = 0;
    for call in 0..11 {
        let id = 2 * call + 1;
        stream.write_all(&frames::grpc_hello(id)).unwrap();
        read_until(&mut stream, |frame| {
            frame.stream == id && frame.kind == 1 && frame.flags & 1 == 1
        });
        if call == 0 {
            // The exchange of SETTINGS is over.
            before = data_segments(&stream);
        }
    }
    data_segments(&stream) - before
}

#[test]
fn grpc_replies_take_one_send_joined_and_two_split() {
    assert_eq!(fewest(|| segments_grpc("joined")), 10);
    assert_eq!(fewest(|| segments_grpc("split")), 20);
}

#[test]
fn split_writes_change_no_byte() {
    for stack in [rest("text"), rest("json"), rest2("text"), grpc()] {
        for bytes in [14, 150_000, 3_000_000] {
            let other = json!({"socket": {"writes": "split"}, "store": {"hello_bytes": bytes}});
            let service = Service::start(&stack, other);
            assert!(
                block_on(service.hello()).unwrap() == texts::text(bytes),
                "{stack} {bytes}"
            );
        }
    }
}

/// Calls of 20 that took longer than 25 ms, with header and body in two sends.
fn stalls(nagle: bool) -> usize {
    let socket = json!({"writes": "split", "nagle": nagle});
    let service = Service::start(&rest("text"), json!({ "socket": socket }));
    let mut stream = service.connect();
    let mut stalls = 0;
    for _ in 0..20 {
        let start = Instant::now();
        hello_http1(&mut stream, b"Hello, wirelab");
        stalls += usize::from(start.elapsed() > Duration::from_millis(25));
    }
    stalls
}

#[test]
#[ignore = "judges times: make test-rust-alone"]
fn nagle_waits_for_the_delayed_acknowledgement_of_the_header() {
    // A delayed acknowledgement takes 40 ms on Linux; after some exchanges the kernel
    // acknowledges at once, so not every call stalls.
    let (on, off) = (stalls(true), stalls(false));
    assert!(on >= 5, "{on} stalls with Nagle's algorithm");
    assert!(off <= 2, "{off} stalls without");
}

#[test]
fn quickack_can_be_set_either_way() {
    for on in [true, false] {
        let service = Service::start(&rest("text"), json!({"socket": {"quickack": on}}));
        assert_eq!(service.ready["set"]["quickack"], on);
        assert_eq!(block_on(service.hello()).unwrap(), "Hello, wirelab");
    }
}

/// SETTINGS_INITIAL_WINDOW_SIZE that the service offers (RFC 9113 section 6.5.2).
fn read_window(service: &Service) -> Option<u32> {
    let mut stream = service.connect();
    stream.write_all(&frames::preface()).unwrap();
    let found = read_until(&mut stream, |frame| frame.kind == 4 && frame.flags == 0);
    let settings = found
        .iter()
        .find(|frame| frame.kind == 4 && frame.flags == 0)?;
    let entry = settings
        .payload
        .chunks(6)
        .find(|entry| entry[..2] == [0, 4])?;
    Some(u32::from_be_bytes(entry[2..].try_into().unwrap()))
}

#[test]
fn the_http2_window_is_the_one_that_was_asked_for() {
    for stack in [rest2("text"), grpc()] {
        for window in [16_384, 1_000_000] {
            let service = Service::start(&stack, json!({"socket": {"h2_window": window}}));
            assert_eq!(read_window(&service), Some(window), "{stack}");
        }
        let service = Service::start(&stack, json!({}));
        let reported = service.ready["set"]["h2_window"].as_u64().unwrap();
        assert_eq!(
            read_window(&service).map(u64::from),
            Some(reported),
            "{stack}"
        );
    }
}

#[test]
fn thousands_connect_at_once() {
    let service = Service::start(&rest("text"), json!({}));
    let mut crowd: Vec<TcpStream> = (0..3000).map(|_| service.connect()).collect();
    for stream in crowd.iter_mut().rev().take(100) {
        hello_http1(stream, b"Hello, wirelab");
    }
    assert_eq!(service.metric("wirelab_connections_total"), 3000.0);
    assert_eq!(service.metric("wirelab_accept_errors_total"), 0.0);
}
