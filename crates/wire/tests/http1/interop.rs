//! Interoperability of the HTTP/1.x client with a third-party server: the one in
//! Python's standard library. Where Python cannot be started, the tests print that
//! and are skipped.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use super::support::{Event, RecordedEvents, get, post};
use crate::skipped::report_skip;
use wirelab_wire::http1::{Http1, Options, Version};
use wirelab_wire::{Request, Session};

/// The server; it ends with the test.
struct PythonServer {
    child: Child,
    port: u16,
}

impl PythonServer {
    fn start(version: &str) -> Option<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/http1/python_server.py");
        let started = Command::new("python3")
            .args([script, version])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = match started {
            Ok(child) => child,
            Err(error) => {
                report_skip(format!("python3 cannot be started: {error}"));
                return None;
            }
        };
        let mut line = String::new();
        BufReader::new(child.stdout.take()?)
            // Printed once the server listens, so no attempt to connect fails.
            .read_line(&mut line)
            .expect("a line with the port");
        let port = line.trim().parse().expect("the server's port");
        Some(PythonServer { child, port })
    }
}

impl Drop for PythonServer {
    fn drop(&mut self) {
        // Nothing is left to do for a server that has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection with a blocking socket.
struct Connection {
    socket: TcpStream,
    session: Http1,
    recorded: RecordedEvents,
}

impl Connection {
    fn open(server: &PythonServer, options: Options) -> Self {
        let socket = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        socket.set_nodelay(true).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        Connection {
            socket,
            session: Http1::new(options).unwrap(),
            recorded: RecordedEvents::default(),
        }
    }

    fn send(&mut self, call: u32, request: &Arc<Request>) {
        assert!(self.session.capacity() > 0);
        self.session.send(call, request);
        loop {
            let mut out = Vec::new();
            let more = self.session.pump(&mut out);
            self.socket.write_all(&out).unwrap();
            if !more {
                break;
            }
        }
    }

    /// Reads until `calls` calls have ended; returns status and body of each.
    fn replies(&mut self, calls: usize) -> Vec<(u16, Vec<u8>)> {
        let mut input = [0; 4096];
        while self.ended() < calls {
            match self.socket.read(&mut input).unwrap() {
                0 => self.session.closed(&mut self.recorded),
                bytes => self
                    .session
                    .receive(&input[..bytes], &mut self.recorded)
                    .unwrap(),
            }
        }
        self.collect()
    }

    fn ended(&self) -> usize {
        let ended = |event: &&Event| matches!(event, Event::End(..) | Event::Failed(..));
        self.recorded.0.iter().filter(ended).count()
    }

    fn collect(&mut self) -> Vec<(u16, Vec<u8>)> {
        let mut replies = Vec::new();
        for event in self.recorded.0.drain(..) {
            match event {
                Event::Head(_, head) => replies.push((head.status, Vec::new())),
                Event::Body(_, bytes) => replies.last_mut().expect("a head").1 = bytes,
                Event::Failed(call, failure) => panic!("call {call}: {failure}"),
                Event::FramingConflict(call) => panic!("call {call}: two lengths of the body"),
                Event::First(_) | Event::Field(..) | Event::End(..) => {}
            }
        }
        replies
    }
}

fn path(id: u32, path: &str) -> Arc<Request> {
    Arc::new(Request {
        path: path.into(),
        ..get(id)
    })
}

#[test]
fn a_thousand_calls_on_one_connection() {
    let Some(server) = PythonServer::start("1.1") else {
        return;
    };
    let mut connection = Connection::open(&server, Options::default());
    let request = path(0, "/length");
    for call in 0..1_000 {
        connection.send(call, &request);
        assert_eq!(
            connection.replies(1),
            [(200, b"you asked for /length".to_vec())]
        );
    }
}

#[test]
fn every_end_of_a_body_and_an_error() {
    let Some(server) = PythonServer::start("1.1") else {
        return;
    };
    let mut connection = Connection::open(&server, Options::default());
    connection.send(0, &path(0, "/chunked"));
    assert_eq!(
        connection.replies(1),
        [(200, b"you asked for /chunked".to_vec())]
    );
    connection.send(1, &path(1, "/length"));
    assert_eq!(
        connection.replies(1),
        [(200, b"you asked for /length".to_vec())]
    );
    // More than the buffers of a socket, so that both sides block in between.
    let body: Vec<u8> = (0..700_000_u32).map(|k| (k % 251) as u8).collect();
    connection.send(2, &Arc::new(post(2, &body)));
    assert_eq!(connection.replies(1), [(200, body)]);
    connection.send(3, &path(3, "/until-close"));
    assert_eq!(
        connection.replies(1),
        [(200, b"you asked for /until-close".to_vec())]
    );
    assert!(connection.session.finished());

    let mut connection = Connection::open(&server, Options::default());
    connection.send(0, &path(0, "/nowhere"));
    assert_eq!(connection.replies(1)[0].0, 404);
}

#[test]
fn sixteen_calls_in_the_pipeline() {
    let Some(server) = PythonServer::start("1.1") else {
        return;
    };
    let mut connection = Connection::open(
        &server,
        Options {
            pipeline: 16,
            ..Options::default()
        },
    );
    for call in 0..16 {
        // Two kinds of ends in turn: an end that is found wrongly shifts all later replies.
        let target = ["/length", "/chunked"][call as usize % 2];
        connection.send(call, &path(call % 2, target));
    }
    let replies = connection.replies(16);
    for (k, (status, body)) in replies.iter().enumerate() {
        let target = ["/length", "/chunked"][k % 2];
        assert_eq!(
            (*status, &body[..]),
            (200, format!("you asked for {target}").as_bytes())
        );
    }
}

#[test]
fn one_call_per_connection_in_both_versions() {
    for (server, version) in [
        ("1.0", Version::Http10),
        // Each side in each version: the lower one decides what persists.
        ("1.1", Version::Http10),
        ("1.0", Version::Http11),
        ("1.1", Version::Http11),
    ] {
        let Some(server) = PythonServer::start(server) else {
            return;
        };
        for split_writes in [false, true] {
            let options = Options {
                version,
                close: true,
                split_writes,
                ..Options::default()
            };
            for target in ["/length", "/until-close"] {
                let mut connection = Connection::open(&server, options);
                connection.send(0, &path(0, target));
                let body = format!("you asked for {target}").into_bytes();
                assert_eq!(connection.replies(1), [(200, body)]);
                assert!(connection.session.finished());
                let mut rest = Vec::new();
                connection.socket.read_to_end(&mut rest).unwrap();
                assert!(rest.is_empty(), "the server closes too");
            }
            let mut connection = Connection::open(&server, options);
            connection.send(0, &Arc::new(post(0, b"back")));
            assert_eq!(connection.replies(1), [(200, b"back".to_vec())]);
        }
    }
}

#[test]
fn http_1_0_keeps_its_connection_when_both_sides_ask_for_it() {
    let Some(server) = PythonServer::start("1.1") else {
        return;
    };
    let options = Options {
        version: Version::Http10,
        ..Options::default()
    };
    let mut connection = Connection::open(&server, options);
    connection.send(0, &path(0, "/length"));
    assert_eq!(connection.replies(1)[0].0, 200);
    // This server sends HTTP/1.1 without a Connection field, which persists.
    connection.send(1, &path(0, "/length"));
    assert_eq!(connection.replies(1)[0].0, 200);
}
