//! The parts that the time of a connection is divided into.

/// What one moment of a connection passed with. Every moment belongs to one part.
///
/// After the phases of RFC 6349 section 3 and the limits of Zhang, Breslau, Paxson and
/// Shenker (2002, "On the characteristics and origins of Internet flow rates", T-RAT).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(rename = "WaitPart"))]
pub enum Part {
    /// The name of the server was looked up.
    NameResolution,
    /// From the first SYN to the end of the handshake.
    Connecting,
    /// Until a SYN or its answer was sent again.
    SynRetransmission,
    /// The handshake of TLS.
    TlsHandshake,
    /// The client had a connection and had not yet asked.
    ClientBeforeRequest,
    /// The request was on its way.
    RequestTransfer,
    /// The client paused inside a request.
    ClientStall,
    /// The client held its body back until the server permitted it (`Expect: 100-continue`).
    ExpectContinue,
    /// The network between the capture and the side whose turn it was, and back.
    Path,
    /// The server had the request; the first byte of its reply was not there.
    Server,
    /// The reply was on its way.
    ReplyTransfer,
    /// The server paused inside a reply.
    ServerStall,
    /// The sender waited for a larger window of its receiver.
    WindowLimited,
    /// The window was closed: the receiver did not read.
    WindowClosed,
    /// The sender waited for acknowledgments, its congestion window being full.
    CongestionLimited,
    /// Nagle's algorithm waited for a delayed acknowledgment.
    NagleDelayedAck,
    /// Lost segments were sent again.
    LossRecovery,
    /// No call was under way until the server sent something unasked.
    ServerUnasked,
    /// The client had its reply and did not ask again.
    ClientBetweenRequests,
    /// Nothing was under way until a side closed.
    BeforeClosing,
    /// From the first FIN or RST to the last packet.
    Closing,
    /// The capture does not show what it was.
    Unattributed,
}

impl Part {
    /// All, in the order of their numbers.
    pub const ALL: [Part; 22] = [
        Part::NameResolution,
        Part::Connecting,
        Part::SynRetransmission,
        Part::TlsHandshake,
        Part::ClientBeforeRequest,
        Part::RequestTransfer,
        Part::ClientStall,
        Part::ExpectContinue,
        Part::Path,
        Part::Server,
        Part::ReplyTransfer,
        Part::ServerStall,
        Part::WindowLimited,
        Part::WindowClosed,
        Part::CongestionLimited,
        Part::NagleDelayedAck,
        Part::LossRecovery,
        Part::ServerUnasked,
        Part::ClientBetweenRequests,
        Part::BeforeClosing,
        Part::Closing,
        Part::Unattributed,
    ];

    /// A side was sending, as turns and gaps show; a limit of TCP replaces it.
    pub(crate) fn is_sending(self) -> bool {
        matches!(
            self,
            Part::RequestTransfer
                | Part::ClientStall
                | Part::ReplyTransfer
                | Part::ServerStall
                | Part::CongestionLimited
        )
    }

    /// As [`Self::is_sending`], or it seemed to have nothing to send.
    pub(crate) fn is_of_sender(self) -> bool {
        self.is_sending() || matches!(self, Part::ServerUnasked | Part::ClientBetweenRequests)
    }

    /// As [`Self::is_of_sender`], or a window was known to hold it.
    pub(crate) fn is_window_or_sender(self) -> bool {
        self.is_of_sender() || matches!(self, Part::WindowClosed | Part::WindowLimited)
    }

    /// As [`Self::is_window_or_sender`], or turns show that one side waited for the other.
    pub(crate) fn is_waiting(self) -> bool {
        self.is_window_or_sender() || matches!(self, Part::Path | Part::Server)
    }

    /// A connection was there, and no call under way.
    pub(crate) fn is_idle(self) -> bool {
        matches!(
            self,
            Part::ClientBeforeRequest | Part::ServerUnasked | Part::ClientBetweenRequests
        )
    }

    /// Packets of one side alone do not show it: it depends on what the other did meanwhile.
    pub(crate) fn needs_both_sides(self) -> bool {
        !matches!(
            self,
            Part::NameResolution
                | Part::Connecting
                | Part::SynRetransmission
                | Part::LossRecovery
                | Part::Unattributed
        )
    }

    /// Found by turns and gaps alone; the repetition of what was lost replaces it.
    pub(crate) fn is_by_turn(self) -> bool {
        self.is_sending()
            || matches!(
                self,
                Part::ClientBeforeRequest
                    | Part::Path
                    | Part::Server
                    | Part::ServerUnasked
                    | Part::ClientBetweenRequests
                    | Part::BeforeClosing
                    | Part::TlsHandshake
                    | Part::Unattributed
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_listed_by_discriminant() {
        for (place, part) in Part::ALL.into_iter().enumerate() {
            assert_eq!(part as usize, place);
        }
    }
}
