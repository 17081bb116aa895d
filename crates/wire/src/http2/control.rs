//! Frames that concern the connection, and credit.

use super::client::Client;
use super::error::ConnectionError;
use super::frame::{FrameHead, STREAM_MAX, WINDOW_MAX, code, flag, kind, write_frame};
use super::settings::Change;
use crate::{Failure, Replies};

/// Acknowledgements that may wait for a pump.
const ACKS_MAX: u32 = 1_000;

impl Client {
    /// RFC 9113 section 6.5.3: apply in order, then acknowledge.
    pub(super) fn on_settings(
        &mut self,
        head: FrameHead,
        payload: &[u8],
    ) -> Result<(), Box<ConnectionError>> {
        if head.has(flag::ACK) {
            return Ok(());
        }
        if std::mem::take(&mut self.settings_due) {
            // Unless this frame sets a limit, there is none (RFC 9113 section 6.5.2).
            self.peer.streams_max = u32::MAX;
        }
        // The length is a multiple of 6 bytes: checked with the frame's header.
        let (entries, _) = payload.as_chunks();
        let mut growth = 0;
        for &entry in entries {
            match self.peer.apply(entry)? {
                // Takes effect with a size update at the start of the next block (RFC 7541
                // section 4.2).
                Some(Change::TableSize(size)) => self.requests.limit(size),
                // Several values in one frame change the windows once, by their sum (section
                // 6.9.2).
                Some(Change::Window(more)) => growth += more,
                None => {}
            }
        }
        if growth != 0 {
            self.grow_windows(growth)?;
        }
        self.acknowledge(kind::SETTINGS, &[])
    }

    /// RFC 9113 section 6.9.2.
    fn grow_windows(&mut self, growth: i64) -> Result<(), Box<ConnectionError>> {
        // Streams not yet opened take the new initial window when they open.
        for stream in self.streams.iter_mut().filter(|stream| stream.id != 0) {
            stream.send_window.grant(growth).map_err(|_| {
                overflow(format!(
                    "SETTINGS_INITIAL_WINDOW_SIZE {growth} larger than before"
                ))
            })?;
        }
        // A window that was used up, or negative, may be positive now.
        for slot in self.streams.slots_where(|stream| stream.request.is_some()) {
            self.queue(slot);
        }
        Ok(())
    }

    /// RFC 9113 section 6.7.
    pub(super) fn on_ping(
        &mut self,
        head: FrameHead,
        payload: &[u8],
    ) -> Result<(), Box<ConnectionError>> {
        if head.has(flag::ACK) {
            return Ok(());
        }
        self.acknowledge(kind::PING, payload)
    }

    fn acknowledge(&mut self, kind: u8, payload: &[u8]) -> Result<(), Box<ConnectionError>> {
        self.acks += 1;
        // CVE-2019-9512 and CVE-2019-9515: a peer that never reads could make the queue grow.
        if self.acks > ACKS_MAX {
            return Err(ConnectionError::flood(
                "PING and SETTINGS come no faster than they can be acknowledged \
                 (RFC 9113 section 10.5)",
                format!("more than {ACKS_MAX} at once"),
            ));
        }
        write_frame(&mut self.control, kind, flag::ACK, 0, payload);
        Ok(())
    }

    /// RFC 9113 section 6.9.
    pub(super) fn on_window_update(
        &mut self,
        id: u32,
        increment: u32,
        replies: &mut impl Replies,
    ) -> Result<(), Box<ConnectionError>> {
        // The highest bit is reserved and ignored (RFC 9113 section 6.9).
        let increment = increment & WINDOW_MAX;
        if id == 0 {
            return self.grant_connection(increment);
        }
        // Credit for a stream that has ended is legal: it may have crossed our last frame.
        let Some(slot) = self.streams.slot_of_id(id) else {
            return Ok(());
        };
        let Some(stream) = self.streams.get_mut(slot) else {
            return Ok(());
        };
        if increment == 0 {
            self.stream_error(slot, code::PROTOCOL_ERROR, zero_increment().error, replies);
        } else if stream.send_window.grant(i64::from(increment)).is_err() {
            let ConnectionError { code, error } =
                *overflow(format!("stream {id} granted {increment}"));
            self.stream_error(slot, code, error, replies);
        } else {
            self.queue(slot);
        }
        Ok(())
    }

    fn grant_connection(&mut self, increment: u32) -> Result<(), Box<ConnectionError>> {
        if increment == 0 {
            return Err(zero_increment());
        }
        let granted = self.send_window.grant(i64::from(increment));
        granted.map_err(|_| overflow(format!("the connection granted {increment}")))
    }

    /// RFC 9113 section 6.8: streams above the last one were not processed.
    pub(super) fn on_goaway(
        &mut self,
        last: u32,
        replies: &mut impl Replies,
    ) -> Result<(), Box<ConnectionError>> {
        let last = last & STREAM_MAX;
        // A server may lower the last stream in steps (graceful shutdown), never raise it.
        if self.goaway.is_some_and(|before| last > before) {
            return Err(ConnectionError::protocol(
                "the last stream of a later GOAWAY is not higher (RFC 9113 section 6.8)",
                format!("{last} after {}", self.goaway.unwrap_or_default()),
            ));
        }
        // No new stream from here on; those up to `last` may still end.
        self.goaway = Some(last);
        for slot in self
            .streams
            .slots_where(|stream| stream.id == 0 || stream.id > last)
        {
            if let Some(stream) = self.remove(slot) {
                if stream.id != 0 {
                    // Frames for it may still be under way from before the peer decided.
                    self.reset_streams.add(stream.id);
                }
                // Safe to repeat on another connection, also when the method is not idempotent.
                replies.failed(stream.call, Failure::Unprocessed);
            }
        }
        Ok(())
    }
}

fn zero_increment() -> Box<ConnectionError> {
    ConnectionError::protocol(
        "WINDOW_UPDATE grants at least 1 byte (RFC 9113 section 6.9)",
        "0 bytes",
    )
}

fn overflow(found: String) -> Box<ConnectionError> {
    ConnectionError::new(
        code::FLOW_CONTROL_ERROR,
        "windows stay within 2^31 - 1 bytes (RFC 9113 section 6.9.1)",
        found,
    )
}
