//! A client and a server of TLS (rustls) whose records become packets.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, KeyLog, RootCertStore, ServerConfig, ServerConnection,
    SupportedCipherSuite, SupportedProtocolVersion,
};
use wirelab_trace::flow::event::Direction;

use super::packet_builder::{C, PacketBuilder, S};

/// The lines of a key log.
#[derive(Debug, Default)]
struct Lines(Mutex<String>);

impl KeyLog for Lines {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let hexadecimal =
            |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
        let (random, secret) = (hexadecimal(client_random), hexadecimal(secret));
        let mut lines = self.0.lock().expect("no panic");
        lines.push_str(&format!("{label} {random} {secret}\n"));
    }
}

/// Both configurations, and what they log.
pub struct Peers {
    pub client: ClientConfig,
    pub server: ServerConfig,
    log: Arc<Lines>,
}

/// Suites of which an ECDSA certificate is enough, with their versions.
pub fn suites() -> Vec<(SupportedCipherSuite, &'static SupportedProtocolVersion)> {
    let suites = ring::ALL_CIPHER_SUITES.iter().copied();
    suites
        .filter(|suite| !format!("{:?}", suite.suite()).contains("RSA"))
        .map(|suite| (suite, suite.version()))
        .collect()
}

fn provider(suite: Option<SupportedCipherSuite>) -> CryptoProvider {
    let mut provider = ring::default_provider();
    if let Some(suite) = suite {
        provider.cipher_suites = vec![suite];
    }
    provider
}

impl Peers {
    /// Of that suite only, where there is one.
    pub fn new(
        version: &'static SupportedProtocolVersion,
        suite: Option<SupportedCipherSuite>,
    ) -> Peers {
        Peers::with_providers(version, [provider(suite), provider(suite)])
    }

    /// Who agree after a HelloRetryRequest: the server does not take the first group.
    pub fn of_two_groups(version: &'static SupportedProtocolVersion) -> Peers {
        let mut server = provider(None);
        server.kx_groups = vec![ring::kx_group::SECP384R1];
        Peers::with_providers(version, [provider(None), server])
    }

    fn with_providers(
        version: &'static SupportedProtocolVersion,
        [client, server]: [CryptoProvider; 2],
    ) -> Peers {
        let names = vec!["localhost".to_owned()];
        let own = rcgen::generate_simple_self_signed(names).expect("a certificate");
        let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).expect("a key");
        let log = Arc::new(Lines::default());
        let mut roots = RootCertStore::empty();
        roots.add(own.cert.der().clone()).expect("a root");
        let mut client = ClientConfig::builder_with_provider(client.into())
            .with_protocol_versions(&[version])
            .expect("a version")
            .with_root_certificates(roots)
            .with_no_client_auth();
        client.key_log = log.clone();
        let server = ServerConfig::builder_with_provider(server.into())
            .with_protocol_versions(&[version])
            .expect("a version")
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .expect("a key");
        Peers {
            client,
            server,
            log,
        }
    }

    pub fn key_log(&self) -> String {
        self.log.0.lock().expect("no panic").clone()
    }

    /// A connection between them whose packets `builder` gets.
    pub fn connect<'a>(&self, builder: &'a mut PacketBuilder) -> Talk<'a> {
        let name = ServerName::try_from("localhost").expect("a name");
        let client = ClientConnection::new(Arc::new(self.client.clone()), name);
        let server = ServerConnection::new(Arc::new(self.server.clone()));
        Talk {
            client: client.expect("a client"),
            server: server.expect("a server"),
            builder,
            segment_bytes: 1_448,
        }
    }
}

/// A connection under way.
pub struct Talk<'a> {
    pub client: ClientConnection,
    pub server: ServerConnection,
    pub builder: &'a mut PacketBuilder,
    pub segment_bytes: usize,
}

impl Talk<'_> {
    /// What that side has to send, encrypted; the other side gets it.
    pub fn transmit(&mut self, side: Direction) -> Vec<u8> {
        let mut bytes = Vec::new();
        match side {
            C => while self.client.write_tls(&mut bytes).expect("memory") > 0 {},
            S => while self.server.write_tls(&mut bytes).expect("memory") > 0 {},
        }
        self.receive(side.opposite(), &bytes);
        bytes
    }

    fn receive(&mut self, side: Direction, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let mut plain = Vec::new();
            match side {
                C => {
                    self.client.read_tls(&mut bytes).expect("memory");
                    self.client.process_new_packets().expect("records");
                    // An end of data is an error here.
                    self.client.reader().read_to_end(&mut plain).ok();
                }
                S => {
                    self.server.read_tls(&mut bytes).expect("memory");
                    self.server.process_new_packets().expect("records");
                    self.server.reader().read_to_end(&mut plain).ok();
                }
            }
        }
    }

    /// Sends all that a side has to send, in segments.
    pub fn flush(&mut self, side: Direction) -> &mut Self {
        let bytes = self.transmit(side);
        self.builder.pieces(side, &bytes, self.segment_bytes);
        self
    }

    pub fn handshake(&mut self) -> &mut Self {
        while self.client.is_handshaking() || self.server.is_handshaking() {
            self.flush(C).flush(S);
        }
        // Tickets.
        self.flush(C).flush(S)
    }

    /// Encrypts.
    pub fn write(&mut self, side: Direction, plain: &[u8]) -> &mut Self {
        let written = match side {
            C => self.client.writer().write_all(plain),
            S => self.server.writer().write_all(plain),
        };
        written.expect("room");
        self
    }

    pub fn say(&mut self, side: Direction, plain: &[u8]) -> &mut Self {
        self.write(side, plain).flush(side)
    }

    /// A request without a body and its reply.
    pub fn call(&mut self, path: &str, body: &[u8]) -> &mut Self {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let reply = [head.as_bytes(), body].concat();
        self.say(C, request.as_bytes()).say(S, &reply)
    }

    pub fn close(&mut self) {
        self.client.send_close_notify();
        self.server.send_close_notify();
        self.flush(C).flush(S);
        self.builder.close(C);
    }
}
