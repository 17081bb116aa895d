//! TLS between the socket and the session: bytes to records and back, no I/O.

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};

/// What the records of one receive said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opened {
    /// More may come.
    Open,
    /// The peer said that nothing more comes (`close_notify`, RFC 8446 section 6.1).
    Ended,
}

/// The client's end of one TLS connection.
#[derive(Debug)]
pub(crate) struct Tls {
    connection: ClientConnection,
    must_choose: bool,
}

impl Tls {
    pub(crate) fn new(
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
        must_choose: bool,
    ) -> Result<Tls, rustls::Error> {
        let mut connection = ClientConnection::new(config, name)?;
        // What goes in is what one pump of a session gave, and comes out at once.
        connection.set_buffer_limit(None);
        Ok(Tls {
            connection,
            must_choose,
        })
    }

    /// Messages of a session may be sealed: the server has proven who it is.
    pub(crate) fn ready(&self) -> bool {
        !self.connection.is_handshaking()
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
    /// When the peer is not who it should be, or a record is not what it should be.
    pub(crate) fn open(
        &mut self,
        mut input: &[u8],
        mut sink: impl FnMut(&[u8]) -> bool,
    ) -> io::Result<Opened> {
        while !input.is_empty() {
            // Nothing is taken any more once the peer has said its last word.
            if self.connection.read_tls(&mut input)? == 0 {
                return Ok(Opened::Ended);
            }
            let handshaking = self.connection.is_handshaking();
            self.connection
                .process_new_packets()
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            if handshaking && !self.connection.is_handshaking() {
                self.check_protocol()?;
            }
            if self.hand_on(&mut sink)? == Opened::Ended {
                return Ok(Opened::Ended);
            }
        }
        Ok(Opened::Open)
    }

    fn hand_on(&mut self, sink: &mut impl FnMut(&[u8]) -> bool) -> io::Result<Opened> {
        let mut reader = self.connection.reader();
        loop {
            let length = match reader.fill_buf() {
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
            true => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the server chose no protocol by ALPN; HTTP/2 needs h2 (RFC 9113 section 3.2)",
            )),
        }
    }

    /// Our last word: `close_notify`, or the alert that is due.
    pub(crate) fn farewell(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.connection.send_close_notify();
        self.seal(&[], out)
    }
}
