//! The values of axes that are words, each axis an enum. The first value is the default, except
//! of transport, whose default depends on the binding. Bindings and codecs: [`crate::bindings`].

use std::fmt;
use std::str::FromStr;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A text that names no value of its axis.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("axis {axis} has no value {text:?}; use {}", names.join(", "))]
pub struct UnknownValue {
    /// The axis.
    pub axis: &'static str,
    /// What was written.
    pub text: String,
    /// Its values.
    pub names: &'static [&'static str],
}

// One list makes the enum, its names and its parser, so that the three cannot differ. serde
// takes the same names, and the table of axes their order.
macro_rules! values {
    (
        $(#[$meta:meta])*
        $type:ident of $axis:literal { $($(#[$value_meta:meta])* $value:ident = $name:literal),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        pub enum $type {
            $($(#[$value_meta])* #[serde(rename = $name)] $value),+
        }

        impl $type {
            /// Every value, in the order of the axis table.
            pub const ALL: &[$type] = &[$($type::$value),+];
            /// Their names.
            pub const NAMES: &[&str] = &[$($name),+];

            /// The name in references, plans and configurations.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name),+
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // `pad` and not `write_str`: tables format values with a width.
                f.pad(self.name())
            }
        }

        impl FromStr for $type {
            type Err = UnknownValue;

            fn from_str(text: &str) -> Result<Self, UnknownValue> {
                match text {
                    $($name => Ok($type::$value),)+
                    _ => Err(UnknownValue { axis: $axis, text: text.to_owned(), names: Self::NAMES }),
                }
            }
        }
    };
}

pub(crate) use values;

values! {
    /// The version of SOAP.
    #[derive(Default)]
    SoapVersion of "soap" {
        /// W3C Note of 8 May 2000.
        #[default]
        V11 = "1.1",
        /// W3C Recommendation of 27 April 2007.
        V12 = "1.2",
    }
}

values! {
    /// Compression of messages.
    #[derive(Default)]
    Compression of "compression" {
        /// Messages as they are.
        #[default]
        None = "none",
        /// RFC 1952.
        Gzip = "gzip",
        /// RFC 8878.
        Zstd = "zstd",
        /// Of messages of WebSocket, by an extension that both sides agree on (RFC 7692).
        PermessageDeflate = "permessage-deflate",
    }
}

values! {
    /// What carries messages.
    Transport of "transport" {
        /// RFC 1945: every reply ends its connection.
        Http10 = "http/1.0",
        /// RFC 9112.
        Http11 = "http/1.1",
        /// RFC 9113, by prior knowledge; with TLS by ALPN.
        Http2 = "http/2",
        /// A stream of bytes, without HTTP.
        Tcp = "tcp",
    }
}

values! {
    /// What the transport runs on.
    #[derive(Default)]
    SocketKind of "socket" {
        /// TCP.
        #[default]
        Tcp = "tcp",
        /// A Unix domain socket of type stream.
        Unix = "unix",
    }
}

values! {
    /// How the end of a reply of HTTP/1.x is marked.
    #[derive(Default)]
    EndOfMessage of "end_of_message" {
        /// By its length, sent before it.
        #[default]
        ContentLength = "content-length",
        /// By a last chunk of length 0 (RFC 9112 section 7.1).
        Chunked = "chunked",
        /// By the end of the connection.
        UntilClose = "until-close",
    }
}

values! {
    /// What caches of HTTP make of replies (RFC 9111).
    #[derive(Default)]
    HttpCache of "http_cache" {
        /// Nothing: replies say nothing of caches.
        #[default]
        None = "none",
        /// The caller has the reply and asks whether it is still right; the service confirms it
        /// without sending it again (304).
        Revalidate = "revalidate",
        /// A proxy keeps replies and answers for the service.
        Proxy = "proxy",
    }
}

values! {
    /// When the items of a streamed reply are sent.
    #[derive(Default)]
    Flush of "flush" {
        /// Each as soon as it is made.
        #[default]
        Item = "item",
        /// When the service's library sends by itself.
        Library = "library",
    }
}

values! {
    /// Whether calls are answered.
    #[derive(Default)]
    Reply of "reply" {
        /// Every call has a reply.
        #[default]
        TwoWay = "two-way",
        /// No call has one; a call ends when the service reports that it has processed it.
        OneWay = "one-way",
    }
}

values! {
    /// Sends on one side.
    #[derive(Default)]
    Writes of "writes" {
        /// Header and body in one send where they fit.
        #[default]
        Joined = "joined",
        /// Header and body in two sends.
        Split = "split",
    }
}

values! {
    /// Security of the transport.
    #[derive(Default)]
    Security of "security" {
        /// Plain sockets.
        #[default]
        None = "none",
        /// TLS 1.3 or 1.2; the server's certificate is verified. Every connection makes a full
        /// handshake: sessions are never resumed.
        Tls = "tls",
        /// The same, and the client shows a certificate.
        Mtls = "mtls",
    }
}

values! {
    /// What the client encodes token-xml from.
    #[derive(Default)]
    TokenSource of "token_source" {
        /// The typed message.
        #[default]
        Message = "message",
        /// Its XML text, as in Kangasharju, Tarkoma and Raatikainen (2003).
        Text = "text",
    }
}

values! {
    /// What both ends of a connection of token-xml cache.
    #[derive(Default)]
    TokenCache of "token_cache" {
        /// Names of elements and attributes, as in Kangasharju, Tarkoma and Raatikainen (2003).
        #[default]
        Names = "names",
        /// Texts and values of attributes too.
        NamesAndTexts = "names+texts",
    }
}

values! {
    /// The order of bytes in the client's GIOP messages.
    #[derive(Default)]
    ByteOrder of "byte_order" {
        /// Least significant byte first.
        #[default]
        Little = "little",
        /// Most significant byte first.
        Big = "big",
    }
}

values! {
    /// What the engine does with a reply.
    #[derive(Default)]
    Work of "work" {
        /// Full decode, and comparison with what the contract says.
        #[default]
        Decode = "decode",
        /// Status, length and frame only. Replies whose numbers go into later requests are read
        /// all the same, and so are those of token-xml, whose caches must follow, unless they
        /// repeat the last right one and nothing has entered the caches, and those of raw that
        /// are unlike a right one: only their content shows an error.
        Frame = "frame",
    }
}

/// GIOP's flag octet (CORBA 3.3 part 2, section 9.4.1).
impl ByteOrder {
    /// The order that the lowest bit of a flag octet shows.
    #[must_use]
    pub fn from_flag(flag: u8) -> ByteOrder {
        // Only the lowest bit: the next one marks fragments (GIOP 1.1 and later), the rest
        // is reserved.
        if flag & 1 == 0 {
            ByteOrder::Big
        } else {
            ByteOrder::Little
        }
    }

    /// The octet that shows this order.
    #[must_use]
    pub fn flag(self) -> u8 {
        match self {
            ByteOrder::Big => 0,
            ByteOrder::Little => 1,
        }
    }
}
