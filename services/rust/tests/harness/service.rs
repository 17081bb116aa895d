//! A service as a child process, and bytes that are written by hand.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A process that was given a configuration.
pub struct Process {
    pub child: Child,
    out: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a process and gives it one line of configuration.
    pub fn start(line: &str) -> Self {
        Process::start_by(&mut Command::new(crate::SERVICE), line)
    }

    /// The same by a command that ends in the service.
    pub fn start_by(command: &mut Command, line: &str) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it can be started");
        let stdin = child.stdin.as_mut().expect("standard input is a pipe");
        stdin
            .write_all(line.as_bytes())
            .and_then(|()| stdin.write_all(b"\n"))
            .expect("it reads");
        let out = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
        Process { child, out }
    }

    /// The next line of standard output; empty at its end.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.out
            .read_line(&mut line)
            .expect("standard output is text");
        line
    }

    /// Waits for the end.
    pub fn wait(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let start = Instant::now();
        while start.elapsed() < timeout {
            if let Some(status) = self.child.try_wait().expect("the child is ours") {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }

    /// Sends a signal.
    pub fn signal(&self, signal: libc::c_int) {
        let pid = libc::pid_t::try_from(self.child.id()).expect("a pid fits");
        // SAFETY: kill takes no pointers, and the child was not yet waited for.
        assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only when the process has already ended and been waited for.
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}

/// A service that is ready.
pub struct Service {
    pub process: Process,
    pub ready: Value,
    pub grpc: bool,
    pub http2: bool,
}

/// `rest` with a codec over HTTP/1.1.
pub fn rest(codec: &str) -> Value {
    json!({"binding": "rest", "codec": codec, "transport": "http/1.1"})
}

/// `rest` with a codec over HTTP/2.
pub fn rest2(codec: &str) -> Value {
    json!({"binding": "rest", "codec": codec, "transport": "http/2"})
}

/// `grpc`.
pub fn grpc() -> Value {
    json!({"binding": "grpc", "codec": "protobuf", "transport": "http/2"})
}

/// `soap` in a style over HTTP/1.1.
pub fn soap(codec: &str) -> Value {
    json!({"binding": "soap", "codec": codec, "transport": "http/1.1"})
}

/// `iiop`.
pub fn iiop() -> Value {
    json!({"binding": "iiop", "codec": "cdr", "transport": "tcp"})
}

/// `raw` with a codec.
pub fn raw(codec: &str) -> Value {
    json!({"binding": "raw", "codec": codec, "transport": "tcp"})
}

/// A stack with one axis changed.
pub fn with(mut stack: Value, axis: &str, value: impl Into<Value>) -> Value {
    stack[axis] = value.into();
    stack
}

/// A configuration: a stack, and other keys that are merged in.
pub fn config(stack: &Value, other: Value) -> String {
    let mut config = json!({"contract": "transfer", "stack": stack});
    for (key, value) in other.as_object().expect("keys and values") {
        config[key] = value.clone();
    }
    config.to_string()
}

impl Service {
    /// Starts a service and waits until it is ready.
    pub fn start(stack: &Value, other: Value) -> Self {
        let mut process = Process::start(&config(stack, other));
        // The service prints nothing before it can answer, so this waits just long enough.
        let line = process.line();
        let ready: Value = serde_json::from_str(&line).expect(&line);
        assert_eq!(ready["ready"], true, "{line}");
        let grpc = stack["binding"] == "grpc";
        Service {
            process,
            ready,
            grpc,
            http2: stack["transport"] == "http/2",
        }
    }

    pub fn address(&self) -> &str {
        self.ready["address"].as_str().expect("a text")
    }

    /// The names of its libraries with that role, in the ready line's order.
    pub fn libraries(&self, role: &str) -> Vec<&str> {
        let rows = self.ready["libraries"].as_array().expect("a list");
        rows.iter()
            .filter(|row| row["role"] == role)
            .map(|row| row["name"].as_str().expect("a text"))
            .collect()
    }

    /// A plain connection to it.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).expect("it listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .expect("a timeout can be set");
        // Nagle on the test's side would add delays that tests of timing would see.
        stream.set_nodelay(true).expect("nodelay can be set");
        stream
    }

    /// Sends bytes on a connection of their own and reads until its end.
    pub fn exchange(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        stream.write_all(bytes).expect("it reads");
        let mut reply = Vec::new();
        // A close with unread bytes is a reset; what came before it counts.
        let _reset = stream.read_to_end(&mut reply);
        reply
    }

    /// Posts a body by HTTP/1.1 and reads the whole reply, header and all.
    pub fn post(&self, path: &str, fields: &[(&str, &str)], body: &[u8]) -> String {
        let mut request = format!("POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n");
        for (name, value) in fields {
            request += &format!("{name}: {value}\r\n");
        }
        request += &format!("content-length: {}\r\n\r\n", body.len());
        let reply = self.exchange(&[request.as_bytes(), body].concat());
        String::from_utf8(reply).expect("a text")
    }

    /// The metrics page.
    pub fn metrics(&self) -> String {
        let address = self.ready["metrics"].as_str().expect("a text");
        let mut stream = TcpStream::connect(address).expect("metrics listen");
        let request = b"GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        stream.write_all(request).expect("metrics read");
        let mut page = String::new();
        stream.read_to_string(&mut page).expect("metrics answer");
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        page
    }

    /// One value of the metrics page.
    pub fn metric(&self, name: &str) -> f64 {
        let page = self.metrics();
        let line = page
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap_or_else(|| {
                panic!("no {name} in {page}");
            });
        line.rsplit(' ')
            .next()
            .expect("a value")
            .parse()
            .expect("a number")
    }

    /// Waits until a value of the metrics page is `value`; fails after ten seconds.
    pub fn wait_for_metric(&self, name: &str, value: f64) {
        let start = Instant::now();
        while self.metric(name) != value {
            assert!(
                start.elapsed() < Duration::from_secs(10),
                "{name} stays {}",
                self.metric(name)
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Runs a client, in a runtime with one thread. Panics after a minute: a service that never answers
/// fails its test and does not stop the others.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let limited = async { tokio::time::timeout(Duration::from_secs(60), future).await };
    let ended = runtime.expect("a runtime").block_on(limited);
    ended.expect("the service answers within a minute")
}
