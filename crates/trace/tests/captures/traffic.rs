//! Real connections of this machine's own kernel, captured.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use wirelab_trace::capture::{Capture, Options, Recorded, Recording};

/// linux/sockios.h
const SIOCETHTOOL: libc::c_ulong = 0x8946;

/// A network namespace that ends with the test.
pub struct Namespace {
    pub name: String,
}

impl Namespace {
    pub fn new() -> Namespace {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::SeqCst);
        let name = format!("wltrace-{}-{number}", std::process::id());
        ip(&["netns", "add", &name]);
        ip(&["-n", &name, "link", "set", "lo", "up"]);
        Namespace { name }
    }

    /// Runs something in a thread that is in this namespace.
    pub fn run<T: Send + 'static>(
        &self,
        what: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let path = format!("/var/run/netns/{}", self.name);
        thread::spawn(move || {
            let file = File::open(path).expect("the namespace");
            // setns(2) moves the calling thread alone.
            let network = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(file.as_fd(), network).expect("enters the namespace");
            what()
        })
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Best effort; a panic may be under way.
        let _ = Command::new("ip")
            .args(["netns", "del", &self.name])
            .status();
    }
}

pub fn ip(words: &[&str]) {
    let done = Command::new("ip").args(words).status().expect("iproute2");
    assert!(done.success(), "ip {words:?}");
}

/// What `ethtool -K name tso off gso off gro off` does in this thread's namespace, so
/// that every packet is one that a wire could carry.
pub fn switch_offloads_off(name: &str) {
    // linux/ethtool.h: ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO.
    for command in [0x1f, 0x24, 0x2c] {
        // struct ethtool_value
        // The command, and 0 to switch it off.
        let mut value: [u32; 2] = [command, 0];
        let mut request = libc::ifreq {
            ifr_name: [0; libc::IFNAMSIZ],
            ifr_ifru: libc::__c_anonymous_ifr_ifru {
                ifru_data: value.as_mut_ptr().cast(),
            },
        };
        for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *to = from as libc::c_char;
        }
        let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
        // SAFETY: the name is shorter than its field, and the value outlives the call.
        let done = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &mut request) };
        assert_eq!(done, 0, "{name}: {}", std::io::Error::last_os_error());
    }
}

/// A capture under way in a thread.
pub struct Tap {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Recorded>,
}

impl Tap {
    /// Begins to capture into a file; returns when packets are being seen.
    pub fn begin(namespace: &Namespace, options: Options, file: &Path) -> Tap {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, ready) = std::sync::mpsc::channel();
        let (stopped, path) = (Arc::clone(&stop), file.to_owned());
        let thread = namespace.run(move || {
            let capture = Capture::open(&options).expect("a capture");
            let out = BufWriter::new(File::create(path).expect("a file"));
            let name = options.interface.clone();
            let mut recording =
                Recording::begin(capture, out, options.snap_bytes, &name).expect("a head");
            sender.send(()).expect("the test waits");
            while !stopped.load(Ordering::SeqCst) {
                // Polled instead of awaited: a late reader must lose nothing within the
                // ring.
                recording.drain().expect("a file");
                thread::sleep(Duration::from_millis(1));
            }
            recording.finish().expect("a file")
        });
        ready.recv().expect("the capture begins");
        Tap { stop, thread }
    }

    pub fn end(self) -> Recorded {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.join().expect("the capture ends")
    }
}

/// How a connection goes.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    pub request_bytes: usize,
    pub reply_bytes: usize,
    pub rounds: usize,
    pub end: EndedBy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedBy {
    Client,
    Server,
    Reset,
}

/// A server that answers each call as that asks; ends with its namespace's test.
pub fn serve(namespace: &Namespace, address: &'static str) -> u16 {
    let (sender, port) = std::sync::mpsc::channel();
    namespace.run(move || {
        let listener = TcpListener::bind((address, 0)).expect("a port");
        sender
            .send(listener.local_addr().expect("bound").port())
            .expect("the test waits");
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    port.recv().expect("the server begins")
}

/// Calls begin with three numbers: bytes of request and reply, and whether to close.
fn answer(mut stream: TcpStream) {
    let mut head = [0u8; 9];
    while stream.read_exact(&mut head).is_ok() {
        let number = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|i| head[at + i])) as usize;
        let mut request = vec![0; number(0)];
        if stream.read_exact(&mut request).is_err() {
            return;
        }
        let reply = pattern(number(4));
        if stream.write_all(&reply).is_err() || head[8] == 1 {
            return;
        }
    }
}

/// Bytes that tell where they belong.
pub fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at % 251) as u8).collect()
}

/// Makes a call; everything that the server sends has come when this returns.
pub fn call(address: &str, port: u16, call: Call) {
    let mut stream = TcpStream::connect((address, port)).expect("the server");
    // What Nagle's algorithm holds back is lost with a reset.
    stream.set_nodelay(true).expect("a socket");
    for round in 1..=call.rounds {
        let close = call.end == EndedBy::Server && round == call.rounds;
        // The client decides what both sides send, so that one server serves every
        // test.
        let mut request = (call.request_bytes as u32).to_be_bytes().to_vec();
        request.extend((call.reply_bytes as u32).to_be_bytes());
        request.push(u8::from(close));
        request.extend(pattern(call.request_bytes));
        stream.write_all(&request).expect("the server reads");
        let mut reply = vec![0; call.reply_bytes];
        stream.read_exact(&mut reply).expect("the server answers");
        assert_eq!(reply, pattern(call.reply_bytes));
    }
    match call.end {
        EndedBy::Client => stream.shutdown(Shutdown::Write).expect("connected"),
        EndedBy::Server => {}
        EndedBy::Reset => {
            reset_on_close(&stream);
            return;
        }
    }
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("the server closes");
    assert!(rest.is_empty());
}

fn reset_on_close(stream: &TcpStream) {
    // A lingering time of 0 makes close(2) send RST instead of FIN (socket(7)).
    set_socket_linger(stream, Some(Duration::ZERO)).expect("SO_LINGER");
}

/// A mix of everything that ends well, one call after the other.
pub fn mix(address: &str, port: u16) -> Vec<Call> {
    let sizes = [
        (0, 0),
        (10, 20),
        (1, 60_000),
        (3_000, 5),
        (400_000, 400_000),
    ];
    let ends = [
        (1, EndedBy::Client),
        (2, EndedBy::Server),
        (5, EndedBy::Reset),
    ];
    let of = |(request_bytes, reply_bytes)| {
        ends.map(|(rounds, end)| Call {
            request_bytes,
            reply_bytes,
            rounds,
            end,
        })
    };
    let calls: Vec<Call> = sizes.into_iter().flat_map(of).collect();
    calls.iter().for_each(|one| call(address, port, *one));
    calls
}
