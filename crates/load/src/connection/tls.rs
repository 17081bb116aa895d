//! TLS between the socket and the session: bytes to records and back, no I/O.

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, HandshakeKind};

use crate::call::error::{CodedError, ErrorCode};

/// What the records of one receive mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opened {
    /// More may come.
    Open,
    /// The peer announced that nothing more comes (`close_notify`, RFC 8446 section 6.1).
    Ended,
}

/// The client's end of one TLS connection.
#[derive(Debug)]
pub(crate) struct Tls {
    connection: ClientConnection,
    must_choose: bool,
    /// The server has sent something.
    received_any: bool,
}

/// The content types of a record (RFC 8446 section 5.1).
const RECORD_TYPES: std::ops::RangeInclusive<u8> = 20..=23;

/// Why the first bytes of a connection without TLS are not of a known protocol, where they are a
/// record: the server refuses in its own words what it took for a bad handshake. None of the
/// protocols of sessions begins so.
pub(crate) fn unexpected_record(input: &[u8]) -> Option<io::Error> {
    // Two bytes of version follow the type: 3.1 or 3.3 by RFC 8446 section 5.1, 3.0 from SSL.
    let is_record = matches!(input, [kind, 3, 0..=4, ..] if RECORD_TYPES.contains(kind));
    is_record.then(|| {
        CodedError::io(
            io::ErrorKind::Unsupported,
            ErrorCode::PeerWantsTls,
            "the server answered with a TLS record: it wants TLS, and none was spoken".into(),
        )
    })
}

fn no_record(input: &[u8]) -> io::Error {
    let begins = input[..input.len().min(10)].escape_ascii();
    CodedError::io(
        io::ErrorKind::Unsupported,
        ErrorCode::PeerWithoutTls,
        format!(
            "TLS handshake failed: the server answered with no TLS record, but with \"{begins}\": \
             it seems to speak without TLS"
        ),
    )
}

impl Tls {
    pub(crate) fn new(
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
        must_choose: bool,
    ) -> Result<Tls, rustls::Error> {
        let mut connection = ClientConnection::new(config, name)?;
        // Input is the output of one pump of a session, and leaves at once.
        connection.set_buffer_limit(None);
        Ok(Tls {
            connection,
            must_choose,
            received_any: false,
        })
    }

    /// Messages of a session may be sealed: the server has proven who it is.
    pub(crate) fn ready(&self) -> bool {
        !self.connection.is_handshaking()
    }

    /// The handshake resumed an earlier session (RFC 8446 section 2.2).
    pub(crate) fn is_resumed(&self) -> bool {
        self.connection.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// Appends the records that hold `plain` to `out`, and before them
    /// whatever the handshake has to say.
    pub(crate) fn seal(&mut self, plain: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        if !plain.is_empty() {
            self.connection.writer().write_all(plain)?;
        }
        while self.connection.wants_write() {
            self.connection.write_tls(out)?;
        }
        Ok(())
    }

    /// Takes bytes of the socket and hands on what is in their records, until
    /// `sink` says no.
    ///
    /// # Errors
    /// When the peer is not who it should be, or a record is not what it should be; with
    /// [`io::ErrorKind::Unsupported`] when it does not speak TLS at all.
    pub(crate) fn open(
        &mut self,
        mut input: &[u8],
        mut sink: impl FnMut(&[u8]) -> bool,
    ) -> io::Result<Opened> {
        // rustls would call it a corrupt message, which does not lead to the cause.
        if let ([kind, ..], false) = (input, self.received_any) {
            if !RECORD_TYPES.contains(kind) {
                return Err(no_record(input));
            }
            self.received_any = true;
        }
        while !input.is_empty() {
            // Nothing is taken any more once the peer has sent close_notify.
            // One call takes a part of the input only, and fails once too much plain text waits
            // to be read. So plain text is delivered after each.
            if self.connection.read_tls(&mut input)? == 0 {
                return Ok(Opened::Ended);
            }
            let handshaking = self.connection.is_handshaking();
            self.connection
                .process_new_packets()
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            // Before the first byte of a session goes either way.
            if handshaking && !self.connection.is_handshaking() {
                self.check_protocol()?;
            }
            if self.deliver(&mut sink)? == Opened::Ended {
                return Ok(Opened::Ended);
            }
        }
        Ok(Opened::Open)
    }

    fn deliver(&mut self, sink: &mut impl FnMut(&[u8]) -> bool) -> io::Result<Opened> {
        let mut reader = self.connection.reader();
        loop {
            let length = match reader.fill_buf() {
                // rustls: empty after close_notify, WouldBlock while there is nothing.
                Ok([]) => return Ok(Opened::Ended),
                Ok(chunk) if !sink(chunk) => return Ok(Opened::Open),
                Ok(chunk) => chunk.len(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Opened::Open);
                }
                Err(error) => return Err(error),
            };
            reader.consume(length);
        }
    }

    /// rustls refuses a protocol that was not offered; none at all is for us to refuse.
    fn check_protocol(&self) -> io::Result<()> {
        match self.must_choose && self.connection.alpn_protocol().is_none() {
            false => Ok(()),
            true => Err(CodedError::io(
                io::ErrorKind::InvalidData,
                ErrorCode::TlsFailed,
                "the server chose no protocol by ALPN; HTTP/2 needs h2 (RFC 9113 section 3.2)"
                    .into(),
            )),
        }
    }

    /// Our last record: `close_notify`, or the alert that is due.
    pub(crate) fn close_notify(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.connection.send_close_notify();
        self.seal(&[], out)
    }
}
