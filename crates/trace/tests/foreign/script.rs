//! Conversations packet by packet, as a capture file of any tool would hold them.

use std::net::Ipv4Addr;

use wirelab_trace::diagnosis::waits::Part;
use wirelab_trace::diagnosis::{Cause, Diagnosis, Finding};
use wirelab_trace::output::{Dissection, Dissector, Options};

pub const MS: u64 = 1_000;
pub const SECOND: u64 = 1_000 * MS;

/// When a script begins.
const START_US: u64 = 1_700_000_000 * SECOND;

pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const RST: u8 = 4;
pub const PSH: u8 = 8;
pub const ACK: u8 = 16;

/// The side of a connection that sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

pub use Side::{Client, Server};

/// How a host fills IPv4's identification (RFC 6864).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    Zero,
    PerHost,
    PerConnection,
}

/// One connection: its numbers, and what its sides announce.
#[derive(Debug, Clone)]
pub struct Connection {
    ports: [u16; 2],
    hosts: [Ipv4Addr; 2],
    next: [u32; 2],
    acknowledged: [u32; 2],
    ids: [u16; 2],
    pub windows: [u16; 2],
    pub mss: [u16; 2],
}

impl Connection {
    /// It goes to the name server, over TCP.
    pub fn ask_name_server(&mut self) {
        self.ports[1] = 53;
        self.hosts[1] = Ipv4Addr::new(10, 0, 0, 53);
    }
}

/// A capture in the making. Times are microseconds.
#[derive(Debug, Clone)]
pub struct Script {
    frames: Vec<(u64, Vec<u8>)>,
    now_us: u64,
    pub connections: Vec<Connection>,
    ids: [Ids; 2],
    host_ids: [u16; 2],
    /// Bytes of a frame that the capture holds.
    pub snap: usize,
    /// Sides whose packets the capture lacks.
    hidden: [bool; 2],
}

impl Script {
    pub fn new() -> Script {
        Script {
            frames: Vec::new(),
            now_us: START_US,
            connections: Vec::new(),
            ids: [Ids::Zero; 2],
            host_ids: [100, 900],
            snap: 65_535,
            hidden: [false; 2],
        }
    }

    /// All packets get the time of the first.
    pub fn freeze(mut self) -> Script {
        let first = self.frames[0].0;
        self.frames.iter_mut().for_each(|frame| frame.0 = first);
        self
    }

    pub fn ids(mut self, client: Ids, server: Ids) -> Script {
        self.ids = [client, server];
        self
    }

    /// The capture lacks what that side sends.
    pub fn hide(mut self, side: Side) -> Script {
        self.hidden[side as usize] = true;
        self
    }

    /// Another connection, of which nothing was sent yet.
    pub fn add(&mut self) -> usize {
        let number = self.connections.len() as u16;
        self.connections.push(Connection {
            ports: [40_000 + number, 8_000],
            hosts: [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)],
            next: [1_000, 500_000],
            acknowledged: [0; 2],
            ids: [20_000 + 3_000 * number, 40_000 + 5_000 * number],
            windows: [60_000; 2],
            mss: [1_460; 2],
        });
        usize::from(number)
    }

    /// Another connection with its handshake, by a capture at the client: `rtt_us` to the server
    /// and back.
    pub fn open(&mut self, rtt_us: u64) -> usize {
        let connection = self.add();
        self.handshake(connection, rtt_us, 20);
        connection
    }

    /// The handshake, by a capture that is so far from the server and from the client, there
    /// and back.
    pub fn handshake(&mut self, connection: usize, to_server_us: u64, to_client_us: u64) {
        self.put(connection, Client, SYN, b"");
        self.wait(to_server_us);
        self.put(connection, Server, SYN | ACK, b"");
        self.wait(to_client_us);
        self.ack(connection, Client);
    }

    pub fn wait(&mut self, us: u64) -> &mut Script {
        self.now_us += us;
        self
    }

    /// Time since the beginning.
    pub fn since_start_us(&self) -> u64 {
        self.now_us - START_US
    }

    /// Packets so far.
    pub fn packets(&self) -> u64 {
        self.frames.len() as u64
    }

    /// The clock of the capture steps back.
    pub fn step_back(&mut self, us: u64) {
        self.now_us -= us;
    }

    pub fn syn(&mut self, connection: usize) {
        self.put(connection, Client, SYN, b"");
        self.connections[connection].next[0] -= 1;
    }

    /// Answers the SYN.
    pub fn syn_ack(&mut self, connection: usize) {
        self.connections[connection].next[0] += 1;
        self.put(connection, Server, SYN | ACK, b"");
    }

    /// A SYN with payload (RFC 7413).
    pub fn syn_with(&mut self, connection: usize, payload: &[u8]) {
        self.put(connection, Client, SYN, payload);
    }

    /// Answers such a SYN, and takes the payload.
    pub fn syn_ack_all(&mut self, connection: usize) {
        self.put(connection, Server, SYN | ACK, b"");
    }

    /// Answers the SYN with RST, whose number is 0 (RFC 9293 section 3.10.7.1).
    pub fn refuse(&mut self, connection: usize) {
        let known = &mut self.connections[connection];
        let first = std::mem::take(&mut known.next[1]);
        known.next[0] += 1;
        self.put(connection, Server, RST | ACK, b"");
        let known = &mut self.connections[connection];
        (known.next[0], known.next[1]) = (known.next[0] - 1, first);
    }

    /// The side goes on with this sequence number.
    pub fn renumber(&mut self, connection: usize, side: Side, next: u32) {
        self.connections[connection].next[side as usize] = next;
    }

    pub fn ack(&mut self, connection: usize, side: Side) {
        self.put(connection, side, ACK, b"");
    }

    pub fn fin(&mut self, connection: usize, side: Side) {
        self.put(connection, side, FIN | ACK, b"");
    }

    /// Sends the FIN again, which was the last that the side sent.
    pub fn fin_again(&mut self, connection: usize, side: Side) {
        self.connections[connection].next[side as usize] -= 1;
        self.fin(connection, side);
    }

    pub fn rst(&mut self, connection: usize, side: Side) {
        self.put(connection, side, RST | ACK, b"");
    }

    /// RST without ACK, as an answer to a packet that acknowledges what was never sent.
    pub fn rst_alone(&mut self, connection: usize, side: Side) {
        self.put(connection, side, RST, b"");
    }

    pub fn send(&mut self, connection: usize, side: Side, payload: &[u8]) {
        self.put(connection, side, PSH | ACK, payload);
    }

    /// Full segments, 10 us apart.
    pub fn burst(&mut self, connection: usize, side: Side, segments: usize, bytes: usize) {
        for place in 0..segments {
            self.wait(if place == 0 { 0 } else { 10 });
            self.put(connection, side, ACK, &vec![b'x'; bytes]);
        }
    }

    /// Payload that is lost before the capture.
    pub fn lose(&mut self, connection: usize, side: Side, payload: &[u8]) {
        self.put(connection, side, PSH | ACK, payload);
        self.frames.pop();
    }

    /// Sends the bytes before the next one again.
    pub fn repeat(&mut self, connection: usize, side: Side, bytes: u32) {
        let next = &mut self.connections[connection].next[side as usize];
        *next -= bytes;
        self.send(connection, side, &vec![b'x'; bytes as usize]);
    }

    /// Sends payload that ends that number of bytes before the next one: again, or late.
    pub fn fill(&mut self, connection: usize, side: Side, payload: &[u8], behind: usize) {
        let next = &mut self.connections[connection].next[side as usize];
        *next -= (payload.len() + behind) as u32;
        self.send(connection, side, payload);
        self.connections[connection].next[side as usize] += behind as u32;
    }

    /// An acknowledgment of all but the last bytes of the other side.
    pub fn ack_without(&mut self, connection: usize, side: Side, bytes: usize) {
        let other = 1 - side as usize;
        self.connections[connection].next[other] -= bytes as u32;
        self.ack(connection, side);
        self.connections[connection].next[other] += bytes as u32;
    }

    /// The hosts of a connection, and the port of its server.
    pub fn place(&mut self, connection: usize, client: u8, server: u8, port: u16) {
        let known = &mut self.connections[connection];
        known.hosts = [client, server].map(|last| Ipv4Addr::new(10, 0, 0, last));
        known.ports[1] = port;
    }

    /// A probe of a live connection: no byte, one number below the next.
    pub fn keep_alive(&mut self, connection: usize, side: Side) {
        self.connections[connection].next[side as usize] -= 1;
        self.put(connection, side, ACK, b"");
        self.connections[connection].next[side as usize] += 1;
    }

    /// The side sends a window from here on.
    pub fn window(&mut self, connection: usize, side: Side, bytes: u16) {
        self.connections[connection].windows[side as usize] = bytes;
    }

    fn put(&mut self, connection: usize, side: Side, flags: u8, payload: &[u8]) {
        let known = &mut self.connections[connection];
        let (own, other) = (side as usize, 1 - side as usize);
        if flags & ACK != 0 {
            known.acknowledged[own] = known.next[other];
        }
        let id = match self.ids[own] {
            Ids::Zero => 0,
            Ids::PerHost => {
                self.host_ids[own] = self.host_ids[own].wrapping_add(1);
                self.host_ids[own]
            }
            Ids::PerConnection => {
                known.ids[own] = known.ids[own].wrapping_add(1);
                known.ids[own]
            }
        };
        let tcp = tcp(known, own, flags, payload);
        let [from, to] = [known.hosts[own], known.hosts[other]];
        let length = payload.len() as u32 + u32::from(flags & (SYN | FIN) != 0);
        known.next[own] = known.next[own].wrapping_add(length);
        let frame = ethernet(&ipv4(from, to, 6, id, &tcp));
        self.record(side, frame);
    }

    fn record(&mut self, side: Side, frame: Vec<u8>) {
        if !self.hidden[side as usize] {
            self.frames.push((self.now_us, frame));
        }
    }

    /// A query for a name to the name server, by its type (1: A, 28: AAAA).
    pub fn query(&mut self, id: u16, name: &str, kind: u16) {
        let message = dns(id, 0x0100, name, kind, None);
        let [client, resolver] = [[10, 0, 0, 1], [10, 0, 0, 53]].map(Ipv4Addr::from);
        self.udp([client, resolver], [50_000, 53], &message);
    }

    /// Its answer, with the address of the server or without any. `code`: 3 where the name does
    /// not exist.
    pub fn answer(&mut self, id: u16, name: &str, kind: u16, has_address: bool, code: u16) {
        let address = has_address.then_some(Ipv4Addr::new(10, 0, 0, 2));
        let message = dns(id, 0x8180 | code, name, kind, address);
        let [client, resolver] = [[10, 0, 0, 1], [10, 0, 0, 53]].map(Ipv4Addr::from);
        self.udp([resolver, client], [53, 50_000], &message);
    }

    fn udp(&mut self, [from, to]: [Ipv4Addr; 2], ports: [u16; 2], payload: &[u8]) {
        let mut bytes = Vec::new();
        for word in [ports[0], ports[1], 8 + payload.len() as u16, 0] {
            bytes.extend(word.to_be_bytes());
        }
        bytes.extend(payload);
        self.frames
            .push((self.now_us, ethernet(&ipv4(from, to, 17, 0, &bytes))));
    }

    /// A pcap file of microseconds.
    fn file(&self) -> Vec<u8> {
        let mut file = Vec::new();
        file.extend(0xa1b2_c3d4_u32.to_le_bytes());
        file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        file.extend((self.snap as u32).to_le_bytes());
        file.extend(1_u32.to_le_bytes());
        for (at_us, frame) in &self.frames {
            let held = frame.len().min(self.snap);
            let [seconds, us] = [at_us / SECOND, at_us % SECOND].map(|word| word as u32);
            for word in [seconds, us, held as u32, frame.len() as u32] {
                file.extend(word.to_le_bytes());
            }
            file.extend(&frame[..held]);
        }
        file
    }

    pub fn dissect(&self) -> Dissection {
        self.dissect_with(Options::default(), Diagnosis::default())
    }

    pub fn dissect_with(&self, options: Options, diagnosis: Diagnosis) -> Dissection {
        let mut dissector = Dissector::new(options, diagnosis);
        let file = self.file();
        let summary = wirelab_trace::read(&file[..], &mut dissector).expect("a capture");
        let (mut dissection, diagnosis) = dissector.finish("script", &summary);
        let _times = dissection.add_diagnosis(diagnosis);
        dissection
    }
}

fn tcp(known: &Connection, own: usize, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(known.ports[own].to_be_bytes());
    bytes.extend(known.ports[1 - own].to_be_bytes());
    bytes.extend(known.next[own].to_be_bytes());
    bytes.extend(known.acknowledged[own].to_be_bytes());
    // MSS, and a window scale of 0, so that windows are known (RFC 7323 section 2.2).
    let [high, low] = known.mss[own].to_be_bytes();
    let options: &[u8] = &[2, 4, high, low, 1, 3, 3, 0];
    let options = if flags & SYN != 0 { options } else { &[] };
    bytes.push((5 + options.len() as u8 / 4) << 4);
    bytes.push(flags);
    bytes.extend(known.windows[own].to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(options);
    bytes.extend(payload);
    bytes
}

fn ipv4(from: Ipv4Addr, to: Ipv4Addr, protocol: u8, id: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x45, 0];
    bytes.extend((20 + body.len() as u16).to_be_bytes());
    bytes.extend(id.to_be_bytes());
    bytes.extend([0x40, 0, 64, protocol, 0, 0]);
    bytes.extend(from.octets());
    bytes.extend(to.octets());
    bytes.extend(body);
    bytes
}

fn ethernet(body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    bytes.extend(body);
    bytes
}

/// A message of RFC 1035 with one question.
fn dns(id: u16, flags: u16, name: &str, kind: u16, address: Option<Ipv4Addr>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [id, flags, 1, u16::from(address.is_some()), 0, 0] {
        bytes.extend(word.to_be_bytes());
    }
    for label in name.split('.') {
        bytes.push(label.len() as u8);
        bytes.extend(label.bytes());
    }
    bytes.push(0);
    bytes.extend([kind, 1].map(u16::to_be_bytes).concat());
    if let Some(address) = address {
        bytes.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        bytes.extend(address.octets());
    }
    bytes
}

/// A query for an address, or its answer, with its length in front.
pub fn dns_over_tcp(id: u16, name: &str, is_answer: bool) -> Vec<u8> {
    let address = is_answer.then_some(Ipv4Addr::new(10, 0, 0, 2));
    let flags = if is_answer { 0x8180 } else { 0x0100 };
    let message = dns(id, flags, name, 1, address);
    [&(message.len() as u16).to_be_bytes()[..], &message].concat()
}

/// Milliseconds of a part, of all connections, rounded.
pub fn ms(dissection: &Dissection, part: Part) -> u64 {
    let parts = &dissection.waits.connections.parts_ms;
    parts.get(&part).map_or(0, |ms| ms.round() as u64)
}

pub fn causes(dissection: &Dissection) -> Vec<Cause> {
    let mut causes: Vec<Cause> = dissection.findings.iter().map(|one| one.cause).collect();
    causes.sort_unstable();
    causes
}

#[track_caller]
pub fn finding(dissection: &Dissection, cause: Cause) -> &Finding {
    let found = dissection.findings.iter().find(|one| one.cause == cause);
    found.unwrap_or_else(|| panic!("no {cause:?} in {:?}", causes(dissection)))
}

pub const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
pub const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
