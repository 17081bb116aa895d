//! What a reply must look like (RFC 9113 section 8.1).

use super::fields::Fields;
use super::streams::Stream;
use crate::ProtocolError;

/// What a field section is to its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// Informational: nothing.
    Interim,
    /// Status and fields.
    Head,
    /// Status and fields of a reply without content or trailers.
    Whole,
    /// Trailers.
    Trailers,
}

impl Stream {
    /// Finds out what a section is to this stream's reply.
    pub(super) fn place(
        &mut self,
        fields: &Fields,
        end_stream: bool,
    ) -> Result<Section, ProtocolError> {
        if let Some(error) = &fields.malformed {
            return Err(ProtocolError::clone(error));
        }
        let head = &fields.head;
        match (self.head_seen, head.status, end_stream) {
            (true, 0, true) => Ok(Section::Trailers),
            (true, 0, false) => Err(misplaced("trailers that do not end the stream")),
            (true, ..) => Err(misplaced("trailers with :status")),
            (false, 0, _) => Err(misplaced("HEADERS without :status")),
            (false, 101, _) => Err(misplaced("status 101, which HTTP/2 does not have")),
            (false, 100..=199, true) => Err(misplaced("an informational status at the end")),
            (false, 100..=199, false) => Ok(Section::Interim),
            (false, status, _) => {
                self.head_seen = true;
                self.contentless |= matches!(status, 204 | 304);
                self.promised = head.content_length.filter(|_| !self.contentless);
                Ok(if end_stream {
                    Section::Whole
                } else {
                    Section::Head
                })
            }
        }
    }

    /// Takes `length` bytes of content into account.
    #[inline]
    pub(super) fn expect(&mut self, length: u32) -> Result<(), ProtocolError> {
        if self.contentless && length > 0 {
            return Err(ProtocolError {
                rule: "replies to HEAD and those of status 204 and 304 have no content \
                       (RFC 9110 section 6.4.1)",
                found: format!("{length} bytes"),
            });
        }
        let Some(promised) = self.promised else {
            return Ok(());
        };
        match promised.checked_sub(u64::from(length)) {
            Some(left) => {
                self.promised = Some(left);
                Ok(())
            }
            None => Err(ProtocolError {
                rule: "content is as long as content-length says (RFC 9113 section 8.1.1)",
                found: format!("{length} bytes where {promised} were left"),
            }),
        }
    }

    /// At the end of a reply nothing may be left of what `content-length` promised.
    pub(super) fn fulfilled(&self) -> Result<(), ProtocolError> {
        match self.promised {
            None | Some(0) => Ok(()),
            Some(missing) => Err(ProtocolError {
                rule: "content is as long as content-length says (RFC 9113 section 8.1.1)",
                found: format!("an end {missing} bytes early"),
            }),
        }
    }
}

fn misplaced(found: &str) -> ProtocolError {
    ProtocolError {
        rule: "a reply is HEADERS with :status, DATA, and at most one section of trailers, \
               which ends the stream (RFC 9113 section 8.1)",
        found: found.into(),
    }
}
