//! What the connections of a group speak.

use std::sync::Arc;

use wirelab_stack::{Binding, Compression, Reply, Security, Stack, Transport, Writes};
use wirelab_wire::{giop, http1, http2, raw, websocket};

use crate::call::fault;
use crate::call::rejection::MESSAGE_BYTES_MAX;
use crate::call::result::Fault;
use crate::connection::any_session::AnySession;
use crate::plan::{Group, HeadLimits, Workload};

/// The largest window of HTTP/2 that is never the limit.
// Half of 2^31 - 1, beyond which a window is a FLOW_CONTROL_ERROR (RFC 9113 section 6.9.1).
const WINDOW_BYTES: u32 = (1 << 30) - 1;

/// How a group's sessions are made.
#[derive(Debug, Clone)]
pub(crate) struct SessionFactory {
    options: Options,
    /// Names of fields that replies are expected to have, in lower case; mostly none.
    watched: Option<Arc<Vec<Box<str>>>>,
}

#[derive(Debug, Clone)]
enum Options {
    Http1(http1::Options),
    Http2(http2::Options),
    Giop(giop::Options),
    Raw(raw::Options),
    Websocket(websocket::Options),
}

impl SessionFactory {
    /// The sessions of a group whose stack passed the checks; with iiop to the object of that key.
    pub(crate) fn of(group: &Group, object_key: Option<Vec<u8>>) -> Result<SessionFactory, Fault> {
        let (stack, limits) = (&group.stack, group.head_limits);
        let options = match stack.transport {
            Transport::Http10 => http1(stack, http1::Version::Http10, limits),
            Transport::Http11 if stack.binding == Binding::Websocket => Ok(websocket(group)),
            Transport::Http11 => http1(stack, http1::Version::Http11, limits),
            Transport::Http2 => Ok(http2(stack, limits)),
            Transport::Tcp if stack.binding == Binding::Raw => raw(stack),
            Transport::Tcp => giop(stack, object_key.unwrap_or_default()),
        };
        Ok(SessionFactory {
            options: options?,
            watched: None,
        })
    }

    /// Its sessions report fields of these names, in lower case.
    pub(crate) fn watching<'a>(self, names: impl Iterator<Item = &'a str>) -> SessionFactory {
        let names: Vec<_> = names.map(Box::from).collect();
        SessionFactory {
            watched: (!names.is_empty()).then(|| Arc::new(names)),
            ..self
        }
    }

    /// The same, but to another object.
    pub(crate) fn to_object(&self, key: &[u8]) -> SessionFactory {
        let options = match &self.options {
            Options::Giop(options) => Options::Giop(giop::Options {
                object_key: key.to_owned(),
                ..options.clone()
            }),
            other => other.clone(),
        };
        SessionFactory {
            options,
            watched: self.watched.clone(),
        }
    }

    /// A session for a new connection.
    pub(crate) fn session(&self) -> AnySession {
        const CHECKED: &str = "the options were tried when the plan was read";
        let watched = || self.watched.clone();
        match &self.options {
            Options::Http1(options) => {
                let session = http1::Http1::new(*options).expect(CHECKED);
                AnySession::Http1(session.watching(watched()))
            }
            Options::Http2(options) => {
                let session = http2::Client::new(options.clone());
                AnySession::Http2(Box::new(session.watching(watched())))
            }
            Options::Giop(options) => {
                AnySession::Giop(Box::new(giop::Giop::new(options.clone()).expect(CHECKED)))
            }
            Options::Raw(options) => {
                AnySession::Raw(Box::new(raw::Raw::new(*options).expect(CHECKED)))
            }
            Options::Websocket(options) => {
                AnySession::Websocket(Box::new(websocket::WebSocket::new(*options)))
            }
        }
    }
}

fn refused(error: &dyn ToString) -> Fault {
    fault::plan(error.to_string(), "change the connection axis")
}

fn http1(stack: &Stack, version: http1::Version, limits: HeadLimits) -> Result<Options, Fault> {
    let options = http1::Options {
        version,
        close: stack.closes(),
        pipeline: stack.in_flight,
        split_writes: stack.client.writes == Writes::Split,
        head_limits: head_limits(limits),
    };
    // Made once for nothing: an illegal plan is refused before load begins, and `session`
    // cannot fail in the middle of a run.
    http1::Http1::new(options).map_err(|error| refused(&error))?;
    Ok(Options::Http1(options))
}

fn head_limits(limits: HeadLimits) -> http1::HeadLimits {
    http1::HeadLimits {
        bytes: limits.bytes,
        fields: limits.fields,
    }
}

/// Services of the contracts end their streams; of others the number of messages is given.
fn websocket(group: &Group) -> Options {
    let stack = &group.stack;
    let stream = match &group.workload {
        Workload::Http { stream, .. } => stream.as_ref(),
        _ => None,
    };
    let (ending, kind, message_bytes_max) = match stream {
        None => {
            let kind = stack.codec.into();
            (websocket::Ending::EmptyText, Some(kind), MESSAGE_BYTES_MAX)
        }
        Some(stream) => {
            let count = stream.expect_messages.unwrap_or(1);
            (
                websocket::Ending::Messages(count),
                None,
                stream.message_bytes_max,
            )
        }
    };
    Options::Websocket(websocket::Options {
        ending,
        kind,
        close: stack.closes(),
        head_limits: head_limits(group.head_limits),
        message_bytes_max,
        deflate: (stack.compression == Compression::PermessageDeflate)
            .then(websocket::DeflateOffer::default),
    })
}

fn http2(stack: &Stack, limits: HeadLimits) -> Options {
    Options::Http2(http2::Options {
        stream_window: stack.client.h2_window.unwrap_or(WINDOW_BYTES),
        connection_window: stack.client.h2_window.unwrap_or(WINDOW_BYTES),
        split_writes: stack.client.writes == Writes::Split,
        max_streams: stack.in_flight,
        https: stack.security != Security::None,
        header_list_max: limits.bytes,
        wait_settings: stack.client.h2_wait_settings,
        ..http2::Options::default()
    })
}

fn giop(stack: &Stack, object_key: Vec<u8>) -> Result<Options, Fault> {
    let options = giop::Options {
        object_key,
        byte_order: stack.byte_order,
        in_flight: stack.in_flight,
        split_writes: stack.client.writes == Writes::Split,
        close: stack.closes(),
    };
    giop::Giop::new(options.clone()).map_err(|error| refused(&error))?;
    Ok(Options::Giop(options))
}

fn raw(stack: &Stack) -> Result<Options, Fault> {
    let options = raw::Options {
        close: stack.closes(),
        one_way: stack.reply == Reply::OneWay,
        pipeline: stack.in_flight,
        split_writes: stack.client.writes == Writes::Split,
    };
    raw::Raw::new(options).map_err(|error| refused(&error))?;
    Ok(Options::Raw(options))
}
