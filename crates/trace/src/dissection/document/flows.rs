//! Connections in the document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::protocol::exchange::Protocol;

/// Connections.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FlowSums {
    /// Seen at all.
    pub count: u64,
    /// Of those, whose SYN was captured.
    pub opened: u64,
    /// Of those seen, whose end was captured.
    pub closed: u64,
    /// Of those seen, that carried more than one exchange.
    pub reused: u64,
    /// Of those seen, captured in one direction only.
    pub one_sided: OneSided,
    /// The first of them, as many as asked for.
    pub list: Vec<Flow>,
}

/// Connections of which the packets of one side are there, and acknowledge those of
/// the other side, which are not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OneSided {
    /// With packets of the client only.
    pub requests: u64,
    /// With packets of the server only.
    pub replies: u64,
}

/// One connection.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Its number, from 0 in the order of first packets.
    pub flow: u32,
    /// The client's end.
    pub client: String,
    /// The server's end.
    pub server: String,
    /// What is spoken.
    pub protocol: Protocol,
    /// Packets of both directions.
    pub packets: u64,
    /// Bytes of both directions, all headers included.
    pub bytes: u64,
    /// Exchanges begun.
    pub exchanges: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// From the SYN to the client's first answer to the server's SYN, which is one
    /// round trip wherever the capture was made; null where they were not seen.
    pub rtt_us: Option<f64>,
    /// How it began.
    pub opening: HowOpened,
    /// How it ended.
    pub closing: HowClosed,
}

/// How a connection began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HowOpened {
    /// With its SYN.
    Syn,
    /// Before the capture.
    Unseen,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HowClosed {
    /// FIN of both sides.
    Orderly,
    /// RST of the client.
    ResetByClient,
    /// RST of the server.
    ResetByServer,
    /// After the capture.
    Unseen,
    /// Another connection between the same two ends began.
    Replaced,
}
