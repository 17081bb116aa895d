//! The reasons for lost time that packets can show.

/// One reason. `docs/reference/diagnosis.md` describes each, by which
/// packets it is recognised and what it cannot show.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// A SYN or its answer had to be sent again (RFC 6298 section 2, RFC 9293 section 3.8.1).
    SynRetransmission,
    /// The last bytes of a flight were lost: only a timer could show it (RFC 6298, RFC 8985
    /// section 7).
    TailLoss,
    /// Payload had to be sent again (RFC 6298, RFC 5681, RFC 8985).
    DataRetransmission,
    /// A packet was overtaken, and what overtook it had to wait (RFC 4737).
    Reordering,
    /// The client took nothing from its socket until its window was closed.
    ClientNotReading,
    /// The sender had used up the window that its peer offered (RFC 9293 section 3.8.6).
    TcpWindowExhausted,
    /// The sender had used up the window of a stream or connection (RFC 9113 section 5.2).
    H2WindowExhausted,
    /// A small segment waited for the acknowledgment of one before (RFC 896), which
    /// the peer delayed (RFC 1122 section 4.2.3.2).
    NagleDelayedAck,
    /// The congestion window had been reduced by a pause (RFC 5681 section 4.1, RFC 2861).
    IdleRestart,
    /// The congestion window had not yet grown (RFC 5681 section 3.1, RFC 6928).
    SlowStart,
    /// The client held its body back for a permission of the server, `Expect: 100-continue`
    /// (RFC 9110 section 10.1.1).
    ExpectContinue,
    /// Nothing but the end of the connection ended the reply (RFC 9112 section 6.3).
    ReadUntilClose,
    /// The server had the request and sent nothing.
    ServerThinkTime,
    /// A connection was opened for one exchange (RFC 9112 section 9.3).
    ConnectionPerCall,
    /// One message began in a segment that could have carried more of it.
    SplitWrites,
    /// The events of a stream waited in a buffer until it was full.
    EventsInBursts,
    /// The messages of a stream came at uneven intervals.
    UnevenStream,
    /// A message came in three or more pieces with pauses of its sender between them.
    DribbledWrites,
    /// The sender paused inside a message, and nothing but itself kept it from sending.
    SenderStalled,
    /// The way to the other side and back, as long as it is.
    LongPath,
    /// The reply had to wait for earlier ones on its connection (RFC 9112 section 9.3.2).
    HeadOfLine,
    /// A reply that sent the client elsewhere (RFC 9110 section 15.4).
    Redirect,
    /// The client had a connection and did not use it, or kept it without a call.
    ClientIdle,
    /// A window was closed, and no exchange shows what it held up.
    ZeroWindow,
    /// A SYN was answered by a RST (RFC 9293 section 3.5.2).
    ConnectionRefused,
    /// A RST ended a connection on which something was under way.
    ConnectionReset,
    /// A request was sent on a kept connection that the server had just closed (RFC 9112
    /// section 9.6).
    KeepAliveRace,
    /// A request got no reply while its connection was seen.
    Unanswered,
    /// The handshake of TLS took longer than its round trips.
    SlowTls,
    /// The lookup of the server's name (RFC 1035) took long.
    SlowDns,
    /// Large segments were sent again without end, while the other side was heard (RFC 2923).
    MtuBlackHole,
    /// Payload was sent again without end, and nothing came from the other side.
    HalfOpen,
    /// Probes of a live connection (RFC 9293 section 3.8.4) were not answered.
    KeepAliveDeath,
    /// Payload was sent again that had arrived (RFC 2883, RFC 5682).
    SpuriousRetransmission,
    /// The first request waited for the server's SETTINGS (RFC 9113 section 3.4).
    H2SettingsWait,
    /// A request waited for the answer to a PING (RFC 9113 section 6.7).
    H2PingWait,
    /// Requests waited because as many streams were open as the server allows (RFC 9113
    /// section 5.1.2).
    H2StreamLimit,
    /// A segment came in fragments of IP, and was whole with the last of them (RFC 791 section
    /// 2.3, RFC 8200 section 4.5).
    IpFragments,
    /// Messages of a stream that were sent apart, or made apart by their own times, could be read
    /// only together.
    MessagesCoalesced,
    /// A proxy held messages of a stream until more of them had come.
    StreamBuffered,
    /// A loss on one stream of a connection kept messages on others from being read (RFC 9114
    /// section 2.1 states it of HTTP/2).
    H2HeadOfLine,
}

impl Cause {
    /// All, in the order in which time is attributed: what lies in the time of one is
    /// not attributed again to those behind it.
    pub const ALL: [Cause; 41] = [
        Cause::SynRetransmission,
        Cause::TailLoss,
        Cause::DataRetransmission,
        Cause::Reordering,
        Cause::ClientNotReading,
        Cause::TcpWindowExhausted,
        Cause::H2WindowExhausted,
        Cause::NagleDelayedAck,
        Cause::IdleRestart,
        Cause::SlowStart,
        Cause::ExpectContinue,
        Cause::ReadUntilClose,
        Cause::ServerThinkTime,
        Cause::ConnectionPerCall,
        Cause::SplitWrites,
        Cause::EventsInBursts,
        Cause::UnevenStream,
        Cause::DribbledWrites,
        Cause::SenderStalled,
        Cause::LongPath,
        Cause::HeadOfLine,
        Cause::Redirect,
        Cause::ClientIdle,
        Cause::ZeroWindow,
        Cause::ConnectionRefused,
        Cause::ConnectionReset,
        Cause::KeepAliveRace,
        Cause::Unanswered,
        Cause::SlowTls,
        Cause::SlowDns,
        Cause::MtuBlackHole,
        Cause::HalfOpen,
        Cause::KeepAliveDeath,
        Cause::SpuriousRetransmission,
        Cause::H2SettingsWait,
        Cause::H2PingWait,
        Cause::H2StreamLimit,
        Cause::IpFragments,
        Cause::MessagesCoalesced,
        Cause::StreamBuffered,
        Cause::H2HeadOfLine,
    ];

    /// Payload that did not arrive the first time.
    pub fn is_loss(self) -> bool {
        matches!(self, Cause::TailLoss | Cause::DataRetransmission)
    }

    /// The causes that are a way of using sockets: they are found where their
    /// pattern is, whatever it cost.
    pub fn is_pattern(self) -> bool {
        matches!(
            self,
            Cause::ReadUntilClose | Cause::ConnectionPerCall | Cause::SplitWrites
        )
    }

    /// Found on connections, not on their exchanges.
    pub fn is_of_connection(self) -> bool {
        self as usize >= Cause::ClientIdle as usize
    }

    /// Shown by segments alone, so that a flow whose messages cannot be read shows it too.
    pub fn needs_no_message(self) -> bool {
        matches!(
            self,
            Cause::SynRetransmission
                | Cause::TailLoss
                | Cause::DataRetransmission
                | Cause::Reordering
                | Cause::ClientNotReading
                | Cause::TcpWindowExhausted
                | Cause::NagleDelayedAck
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_listed_by_discriminant() {
        for (place, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, place);
        }
    }

    #[test]
    fn names_are_those_of_the_contract() {
        let names = serde_json::to_value(&Cause::ALL[..]).expect("causes are plain names");
        assert_eq!(
            names,
            serde_json::json!([
                "syn-retransmission",
                "tail-loss",
                "data-retransmission",
                "reordering",
                "client-not-reading",
                "tcp-window-exhausted",
                "h2-window-exhausted",
                "nagle-delayed-ack",
                "idle-restart",
                "slow-start",
                "expect-continue",
                "read-until-close",
                "server-think-time",
                "connection-per-call",
                "split-writes",
                "events-in-bursts",
                "uneven-stream",
                "dribbled-writes",
                "sender-stalled",
                "long-path",
                "head-of-line",
                "redirect",
                "client-idle",
                "zero-window",
                "connection-refused",
                "connection-reset",
                "keep-alive-race",
                "unanswered",
                "slow-tls",
                "slow-dns",
                "mtu-black-hole",
                "half-open",
                "keep-alive-death",
                "spurious-retransmission",
                "h2-settings-wait",
                "h2-ping-wait",
                "h2-stream-limit",
                "ip-fragments",
                "messages-coalesced",
                "stream-buffered",
                "h2-head-of-line"
            ])
        );
    }
}
