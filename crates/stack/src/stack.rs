//! A stack: a legal point of the axis table, resolved once into typed values.

use std::fmt::Display;
use std::str::FromStr;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::axis_map::AxisMap;
use crate::bindings::{Binding, Codec};
use crate::rules::first_broken;
use crate::values::{
    ByteOrder, Compression, EndOfMessage, Flush, HttpCache, Reply, Security, SoapVersion,
    SocketKind, TokenCache, TokenSource, Transport, Work, Writes,
};

/// A legal point of the axis table; in JSON an [`AxisMap`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(try_from = "AxisMap", into = "AxisMap")]
#[cfg_attr(feature = "schema", schemars(with = "AxisMap"))]
pub struct Stack {
    // Kept as it was read, so that a stack is written again without defaults that nobody
    // named.
    axes: AxisMap,
    /// How the contract is spoken.
    pub binding: Binding,
    /// How messages become bytes.
    pub codec: Codec,
    /// The version of SOAP.
    pub soap: SoapVersion,
    /// Compression of messages.
    pub compression: Compression,
    /// What carries messages.
    pub transport: Transport,
    /// What the transport runs on.
    pub socket: SocketKind,
    /// How many connections, and how long they last.
    pub connection: Connection,
    /// Calls under way per connection, at most.
    pub in_flight: u32,
    /// How the end of a reply of HTTP/1.x is marked.
    pub end_of_message: EndOfMessage,
    /// What caches of HTTP make of replies.
    pub http_cache: HttpCache,
    /// When the items of a streamed reply are sent.
    pub flush: Flush,
    /// Milliseconds that the service waits before it closes a connection.
    pub close_delay_ms: u32,
    /// Whether calls are answered.
    pub reply: Reply,
    /// Options of the caller's sockets.
    pub client: SocketAxes,
    /// Options of the service's sockets.
    pub server: SocketAxes,
    /// Security of the transport.
    pub security: Security,
    /// Whether a service of petclinic checks requests against the limits of fields.
    pub validation: bool,
    /// What the client encodes token-xml from.
    pub token_source: TokenSource,
    /// What both ends of a connection of token-xml cache.
    pub token_cache: TokenCache,
    /// The order of bytes in the client's GIOP messages.
    pub byte_order: ByteOrder,
    /// What the engine does with a reply.
    pub work: Work,
}

/// The axis `connection`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// One per call.
    Close,
    /// As many as the load's concurrency needs.
    Keep,
    /// That many.
    Pool(u32),
}

/// Options of the sockets of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketAxes {
    /// Sends.
    pub writes: Writes,
    /// Nagle's algorithm (RFC 896).
    pub nagle: bool,
    /// `TCP_QUICKACK` set again after every receive; None: the kernel's way.
    pub quickack: Option<bool>,
    /// `SO_RCVBUF`, bytes; None: the kernel's.
    pub tcp_window: Option<u32>,
    /// HTTP/2 window, bytes; None: the engine's or the library's.
    pub h2_window: Option<u32>,
    /// No HTTP/2 stream is opened before the peer's SETTINGS have come.
    pub h2_wait_settings: bool,
    /// Handshakes of TLS resume earlier sessions.
    pub tls_resumption: bool,
}

/// A point of the axis table that cannot exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; use {repair}")]
pub struct Illegal {
    /// Why.
    pub reason: String,
    /// The smallest change that makes it legal: `transport=http/2`.
    pub repair: String,
}

impl Stack {
    /// Resolves axes.
    ///
    /// # Errors
    /// When the combination cannot exist.
    pub fn resolve(axes: AxisMap) -> Result<Stack, Illegal> {
        // Before anything is resolved: the types below can hold combinations that do not
        // exist, and no reader of a Stack checks them again.
        if let Some(rule) = first_broken(&axes) {
            let (axis, value) = rule.repair;
            return Err(Illegal {
                reason: rule.reason.clone(),
                repair: format!("{axis}={value}"),
            });
        }
        let axes = &axes;
        // Axes that only the front or the service's store acts on (link, lab, store) have
        // no field: nobody here would read it. They stay in `axes`.
        Ok(Stack {
            axes: axes.clone(),
            binding: axes.binding(),
            codec: word(axes, "codec"),
            soap: word(axes, "soap"),
            compression: word(axes, "compression"),
            transport: word(axes, "transport"),
            socket: word(axes, "socket"),
            connection: match count(axes, "connection") {
                Some(connections) => Connection::Pool(connections),
                None if axes.value("connection") == "close" => Connection::Close,
                None => Connection::Keep,
            },
            // Pipelining and multiplexing need no field of their own: the rules leave one
            // of them per transport.
            in_flight: count(axes, "in_flight").unwrap_or(1),
            end_of_message: word(axes, "end_of_message"),
            http_cache: word(axes, "http_cache"),
            flush: word(axes, "flush"),
            close_delay_ms: number(axes, "close_delay").unwrap_or(0),
            reply: word(axes, "reply"),
            client: SocketAxes {
                writes: word(axes, "client.writes"),
                nagle: axes.value("client.nagle") == "on",
                quickack: switch(axes, "client.quickack"),
                tcp_window: number(axes, "client.tcp_window"),
                h2_window: number(axes, "client.h2_window"),
                h2_wait_settings: axes.value("client.h2_wait_settings") == "on",
                tls_resumption: axes.value("client.tls_resumption") == "on",
            },
            server: SocketAxes {
                writes: word(axes, "server.writes"),
                nagle: axes.value("server.nagle") == "on",
                // No axis: the option does not last, and in a service its library does the
                // receiving.
                quickack: None,
                tcp_window: number(axes, "server.tcp_window"),
                h2_window: number(axes, "server.h2_window"),
                // A service opens no streams.
                h2_wait_settings: false,
                tls_resumption: false,
            },
            security: word(axes, "security"),
            validation: axes.value("validation") == "on",
            token_source: word(axes, "token_source"),
            token_cache: word(axes, "token_cache"),
            byte_order: word(axes, "byte_order"),
            work: word(axes, "work"),
        })
    }

    /// Every axis with its value, as text.
    #[must_use]
    pub fn axes(&self) -> &AxisMap {
        &self.axes
    }

    /// Whether every call has a connection of its own.
    #[must_use]
    pub fn closes(&self) -> bool {
        self.connection == Connection::Close
    }
}

impl TryFrom<AxisMap> for Stack {
    type Error = Illegal;

    fn try_from(axes: AxisMap) -> Result<Stack, Illegal> {
        Stack::resolve(axes)
    }
}

impl From<Stack> for AxisMap {
    fn from(stack: Stack) -> AxisMap {
        stack.axes
    }
}

fn word<T: FromStr<Err: Display>>(axes: &AxisMap, axis: &str) -> T {
    let value = axes.value(axis);
    value
        .parse()
        // Not an error of the input: `AxisMap::set` takes words of the table only, and a
        // test resolves every one.
        .unwrap_or_else(|error| panic!("the table has a value that its type lacks: {error}"))
}

fn count(axes: &AxisMap, axis: &str) -> Option<u32> {
    let (_, count) = axes.value(axis).split_once('=')?;
    count.parse().ok()
}

fn number(axes: &AxisMap, axis: &str) -> Option<u32> {
    // None of a word such as `kernel` or `library`: whoever reads it sets nothing then,
    // instead of setting a default that it would have to know.
    axes.value(axis).parse().ok()
}

fn switch(axes: &AxisMap, axis: &str) -> Option<bool> {
    match axes.value(axis) {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}
