//! The client against a server that other people wrote: nghttp2's nghttpd.
//!
//! Skipped, with the reason printed, where nghttpd is not installed (Debian:
//! nghttp2-server).

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use wirelab_wire::http2::{Client, Options};
use wirelab_wire::{CallId, End, Failure, Head, Replies, Request, Session};

use crate::skipped::report_skip;

const SMALL: &[u8] = b"Hello, wirelab";
const LARGE_BYTES: usize = 3 << 20;

/// A running nghttpd; stopped when dropped.
struct Nghttpd {
    process: Child,
    port: u16,
    root: PathBuf,
}

impl Nghttpd {
    /// None where there is no nghttpd.
    fn start(name: &str, arguments: &[&str]) -> Option<Nghttpd> {
        let root = std::env::temp_dir().join(format!("wirelab-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(root.join("small"), SMALL).unwrap();
        std::fs::write(root.join("large"), pattern(LARGE_BYTES)).unwrap();
        // nghttpd cannot choose a free port itself. Another process could take it in
        // between; then the test fails by its own message.
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let spawned = Command::new("nghttpd")
            .args(["--no-tls", "--address=127.0.0.1"])
            .args(arguments)
            .arg(format!("--htdocs={}", root.display()))
            .arg(port.to_string())
            .stdout(Stdio::null())
            .spawn();
        match spawned {
            Ok(process) => Some(Nghttpd {
                process,
                port,
                root,
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                report_skip("nghttpd is not installed (apt-get install nghttp2-server)");
                std::fs::remove_dir_all(root).unwrap();
                None
            }
            Err(error) => panic!("nghttpd did not start: {error}"),
        }
    }

    fn connect(&self) -> TcpStream {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            match TcpStream::connect(("127.0.0.1", self.port)) {
                Ok(socket) => {
                    socket
                        .set_read_timeout(Some(Duration::from_secs(10)))
                        .unwrap();
                    socket.set_nodelay(true).unwrap();
                    return socket;
                }
                Err(error) => assert!(Instant::now() < deadline, "nghttpd: {error}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Nghttpd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| ((at * 31) >> 3) as u8).collect()
}

/// One call's reply.
#[derive(Debug, Default, Clone)]
struct Reply {
    head: Option<Head>,
    body: Vec<u8>,
    ended: bool,
}

#[derive(Default)]
struct Collected {
    replies: Vec<Reply>,
    ended: Vec<CallId>,
}

impl Replies for Collected {
    fn first(&mut self, _: CallId) {}
    fn head(&mut self, call: CallId, head: &Head) {
        self.replies[call as usize].head = Some(*head);
    }
    fn body(&mut self, call: CallId, chunk: &[u8]) {
        self.replies[call as usize].body.extend_from_slice(chunk);
    }
    fn end(&mut self, call: CallId, _: End) {
        self.replies[call as usize].ended = true;
        self.ended.push(call);
    }
    fn failed(&mut self, call: CallId, failure: Failure) {
        panic!("call {call}: {failure}");
    }
}

/// Makes `calls` calls on one connection, `in_flight` at a time, over a socket
/// that is written whenever there is something to write.
fn drive(
    socket: &TcpStream,
    options: Options,
    request: &Arc<Request>,
    calls: usize,
    in_flight: usize,
) -> Vec<Reply> {
    let mut client = Client::new(options);
    let mut collected = Collected {
        replies: vec![Reply::default(); calls],
        ended: Vec::new(),
    };
    let mut input = vec![0; 64 << 10];
    let mut sent = 0;
    while collected.ended.len() < calls {
        while sent < calls && sent - collected.ended.len() < in_flight && client.capacity() > 0 {
            client.send(sent as CallId, request);
            sent += 1;
        }
        let mut out = Vec::new();
        while client.pump(&mut out) {
            flush(socket, &mut out);
        }
        flush(socket, &mut out);
        let length = (&*socket).read(&mut input).unwrap();
        assert_ne!(length, 0, "nghttpd closed the connection");
        client.receive(&input[..length], &mut collected).unwrap();
    }
    assert!(!client.finished());
    collected.replies
}

fn flush(mut socket: &TcpStream, out: &mut Vec<u8>) {
    socket.write_all(out).unwrap();
    out.clear();
}

fn request(id: u32, method: &str, path: &str, body: Vec<u8>) -> Arc<Request> {
    Arc::new(Request {
        id: id.into(),
        method: method.into(),
        path: Path::new("/").join(path).display().to_string(),
        authority: "localhost".into(),
        fields: vec![
            ("user-agent".into(), "wirelab".into()),
            ("accept".into(), "*/*".into()),
        ],
        body: body.into(),
    })
}

fn check(reply: &Reply, body: &[u8]) {
    let head = reply.head.expect("a head");
    assert_eq!(head.status, 200);
    assert!(
        head.content_length
            .is_none_or(|length| length == body.len() as u64)
    );
    assert!(
        reply.body == body,
        "{} bytes of {}",
        reply.body.len(),
        body.len()
    );
    assert!(reply.ended);
}

#[test]
fn small_and_large_files_come_back_whole() {
    let Some(server) = Nghttpd::start("files", &[]) else {
        return;
    };
    let small = drive(
        &server.connect(),
        Options::default(),
        &request(1, "GET", "small", vec![]),
        1,
        1,
    );
    check(&small[0], SMALL);
    let large = request(2, "GET", "large", vec![]);
    // Down to a window smaller than a frame: credit then decides every send.
    for window in [Options::default().stream_window, 65_535, 16_384, 1_000] {
        let options = Options {
            stream_window: window,
            connection_window: window,
            ..Options::default()
        };
        let replies = drive(&server.connect(), options, &large, 4, 2);
        for reply in replies {
            check(&reply, &pattern(LARGE_BYTES));
        }
    }
}

#[test]
fn a_thousand_calls_share_a_connection() {
    let Some(server) = Nghttpd::start("thousand", &[]) else {
        return;
    };
    let small = request(1, "GET", "small", vec![]);
    let replies = drive(&server.connect(), Options::default(), &small, 1_000, 10);
    assert_eq!(replies.len(), 1_000);
    replies.iter().for_each(|reply| check(reply, SMALL));
}

#[test]
fn an_upload_is_echoed() {
    let Some(server) = Nghttpd::start("upload", &["--echo-upload"]) else {
        return;
    };
    let body = pattern(1 << 20);
    let upload = request(1, "POST", "small", body.clone());
    for split_writes in [false, true] {
        let options = Options {
            split_writes,
            ..Options::default()
        };
        let replies = drive(&server.connect(), options, &upload, 6, 3);
        replies.iter().for_each(|reply| check(reply, &body));
    }
}

#[test]
fn trailers_padding_and_a_small_header_table_are_understood() {
    let arguments = [
        "--trailer=grpc-status: 0",
        "--padding=200",
        // Room for one entry, so that nearly every field is evicted.
        "--header-table-size=64",
    ];
    let Some(server) = Nghttpd::start("trailers", &arguments) else {
        return;
    };
    let small = request(1, "GET", "small", vec![]);
    let replies = drive(&server.connect(), Options::default(), &small, 100, 10);
    replies.iter().for_each(|reply| check(reply, SMALL));
}
