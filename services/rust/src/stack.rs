//! The server's side of a point in the axis space.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wirelab_stack::{
    Binding, Codec, Compression, EndOfMessage, Reply, Security, SoapVersion, TokenCache, Transport,
};

/// How a contract is spoken.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// The binding.
    pub binding: Binding,
    /// The codec of messages.
    pub codec: Codec,
    /// The version of SOAP, with binding soap; null: 1.1.
    #[serde(default)]
    pub soap: Option<SoapVersion>,
    /// Compression of messages.
    #[serde(default)]
    pub compression: Compression,
    /// The transport.
    pub transport: Transport,
    /// Security of the transport.
    #[serde(default)]
    pub security: Security,
    /// How the end of a reply is told.
    #[serde(default)]
    pub end_of_message: EndOfMessage,
    /// How long the service waits before it closes a connection, in milliseconds.
    #[serde(default)]
    pub close_delay_ms: u64,
    /// Whether calls are answered.
    #[serde(default)]
    pub reply: Reply,
    /// What token-xml caches, with that codec; null: names.
    #[serde(default)]
    pub token_cache: Option<TokenCache>,
}

impl Stack {
    /// What the caches of a connection hold.
    pub(crate) fn token_cache(&self) -> TokenCache {
        self.token_cache.unwrap_or_default()
    }

    /// True when the service closes each connection after one reply.
    pub(crate) fn closes(&self) -> bool {
        self.transport == Transport::Http10 || self.end_of_message == EndOfMessage::UntilClose
    }
}
