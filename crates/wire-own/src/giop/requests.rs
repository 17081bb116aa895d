//! What a server is sent (CORBA 3.3 part 2, sections 9.4.2, 9.4.4, 9.4.5).

use serde::de::DeserializeOwned;

use super::ior::{Ior, Profile};
use super::message::{HEADER_BYTES, Kind, Version};
use super::reply_writer::ReplyTo;
use super::service_contexts::{self, CodeSets};
use crate::cdr::{self, Break, ByteOrder, Error, Reader};

/// `response_flags` and `response_expected`: a reply is due.
// Bit 0 of both: GIOP 1.0 and 1.1 have a boolean, 1.2 has flags, where 1 means the
// server replies before the object is called and 3 after (section 9.4.2.1).
const EXPECTED: u8 = 1;

/// A message from a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientMessage {
    /// A call.
    Request(Request),
    /// Asks where an object is.
    Locate(LocateRequest),
    /// A call was cancelled; a reply to it is allowed (section 9.4.4).
    Cancel {
        /// The request's number.
        id: u32,
    },
    /// No more requests.
    CloseConnection,
    /// The client did not understand an answer.
    MessageError,
    /// A request whose envelope is GIOP, but whose header is not; to be
    /// answered with `MARSHAL` where its number could be read, else with a
    /// MessageError.
    Malformed {
        /// The request to answer.
        reply_to: Option<ReplyTo>,
        /// What is wrong.
        error: Error,
    },
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The request to answer, in the request's version and byte order.
    pub reply_to: ReplyTo,
    /// False for one-way calls: they must not be answered.
    pub response_expected: bool,
    /// The object that is called.
    pub object_key: Vec<u8>,
    /// The operation to perform.
    pub operation: String,
    /// The connection's code sets, if this request carries them.
    pub code_sets: Option<CodeSets>,
    /// The arguments.
    pub body: Body,
}

/// A question for an object's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocateRequest {
    /// The request to answer.
    pub reply_to: ReplyTo,
    /// The object.
    pub object_key: Vec<u8>,
}

/// Arguments of a call as they came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    order: ByteOrder,
    content: Vec<u8>,
    /// Where in `content` the arguments begin.
    pub(super) at: usize,
    breaks: Vec<Break>,
}

impl Body {
    /// The order of its numbers.
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Reads the arguments as one message.
    ///
    /// # Errors
    /// When they are not that message, or more than that message.
    pub fn read<M: DeserializeOwned>(&self) -> Result<M, Error> {
        let mut reader = reader(self.order, &self.content, &self.breaks);
        // From the beginning of the content, because GIOP 1.0 and 1.1 align arguments
        // by their place in the message, not by the first of them.
        reader.raw(self.at)?;
        cdr::from_reader(reader)
    }

    /// The arguments' bytes. In GIOP 1.2 they are aligned from the first on.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.content[self.at..]
    }
}

/// A message's content behind its header, its fragments joined.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) version: Version,
    pub(super) order: ByteOrder,
    pub(super) kind: Kind,
    pub(super) bytes: Vec<u8>,
    /// Where fragments of GIOP 1.1 begin in it.
    pub(super) breaks: Vec<Break>,
}

fn reader<'a>(order: ByteOrder, content: &'a [u8], breaks: &'a [Break]) -> Reader<'a> {
    Reader::new(order, content, HEADER_BYTES).with_breaks(breaks)
}

impl Content {
    /// The parsed message. Kinds that only servers send were refused before.
    pub(super) fn parse(self) -> ClientMessage {
        // Kept outside of the result, so that an error can still be answered.
        // The id lies behind the service contexts in GIOP 1.0 and 1.1, so that an error
        // may come before it.
        let mut id = None;
        let parsed = match self.kind {
            Kind::CloseConnection => Ok(ClientMessage::CloseConnection),
            Kind::MessageError => Ok(ClientMessage::MessageError),
            Kind::CancelRequest => self.cancel(),
            Kind::LocateRequest => self.locate(&mut id),
            // Requests; a Fragment has been joined to its message, Reply and
            // LocateReply were refused.
            _ => self.head(&mut id),
        };
        match parsed {
            Ok(ClientMessage::Request(mut request)) => {
                request.body.content = self.bytes;
                request.body.breaks = self.breaks;
                ClientMessage::Request(request)
            }
            Ok(inbound) => inbound,
            Err(error) => ClientMessage::Malformed {
                reply_to: id.map(|id| self.reply_to(id)),
                error,
            },
        }
    }

    fn reader(&self) -> Reader<'_> {
        reader(self.order, &self.bytes, &self.breaks)
    }

    fn reply_to(&self, id: u32) -> ReplyTo {
        ReplyTo {
            version: self.version,
            order: self.order,
            id,
        }
    }

    fn cancel(&self) -> Result<ClientMessage, Error> {
        Ok(ClientMessage::Cancel {
            id: self.reader().ulong()?,
        })
    }

    fn locate(&self, number: &mut Option<u32>) -> Result<ClientMessage, Error> {
        let mut reader = self.reader();
        let id = *number.insert(reader.ulong()?);
        let object_key = match self.version {
            Version::V12 => target(&mut reader)?,
            Version::V10 | Version::V11 => reader.octets()?.to_owned(),
        };
        Ok(ClientMessage::Locate(LocateRequest {
            reply_to: self.reply_to(id),
            object_key,
        }))
    }

    /// A request whose body still lacks its bytes.
    pub(super) fn head(&self, number: &mut Option<u32>) -> Result<ClientMessage, Error> {
        let mut reader = self.reader();
        let request = match self.version {
            Version::V12 => self.head_12(&mut reader, number)?,
            Version::V10 | Version::V11 => self.head_10(&mut reader, number)?,
        };
        Ok(ClientMessage::Request(request))
    }

    fn head_12(&self, reader: &mut Reader<'_>, number: &mut Option<u32>) -> Result<Request, Error> {
        let id = *number.insert(reader.ulong()?);
        let flags = reader.octet()?;
        reader.raw(3)?;
        let object_key = target(reader)?;
        let operation = reader.string()?.to_owned();
        let code_sets = service_contexts::read(reader)?;
        // Aligned only where there is a body (section 9.4.2.2).
        reader.align(8);
        Ok(Request {
            reply_to: self.reply_to(id),
            response_expected: flags & EXPECTED != 0,
            object_key,
            operation,
            code_sets,
            body: self.body(reader.position()),
        })
    }

    fn head_10(&self, reader: &mut Reader<'_>, number: &mut Option<u32>) -> Result<Request, Error> {
        let code_sets = service_contexts::read(reader)?;
        let id = *number.insert(reader.ulong()?);
        let flags = reader.octet()?;
        if self.version == Version::V11 {
            reader.raw(3)?;
        }
        let object_key = reader.octets()?.to_owned();
        let operation = reader.string()?.to_owned();
        // `requesting_principal`, deprecated since GIOP 1.2.
        let _principal = reader.octets()?;
        Ok(Request {
            reply_to: self.reply_to(id),
            response_expected: flags & EXPECTED != 0,
            object_key,
            operation,
            code_sets,
            body: self.body(reader.position()),
        })
    }

    fn body(&self, at: usize) -> Body {
        Body {
            order: self.order,
            content: Vec::new(),
            at,
            breaks: Vec::new(),
        }
    }
}

/// The object key of a `TargetAddress` (section 9.4.2.1): the key itself, or a
/// profile or a whole reference that contains it.
fn target(reader: &mut Reader<'_>) -> Result<Vec<u8>, Error> {
    let profile = match reader.ushort()? {
        // KeyAddr, ProfileAddr and ReferenceAddr are 0, 1 and 2.
        0 => return Ok(reader.octets()?.to_owned()),
        1 => Ior::read_profile(reader)?,
        // `IORAddressingInfo`: the index of the chosen profile, then the whole
        // reference.
        2 => {
            let chosen = reader.ulong()? as usize;
            let mut ior = Ior::read(reader)?;
            if chosen >= ior.profiles.len() {
                return Err(Error::Unsupported("a target whose profile is not there"));
            }
            ior.profiles.swap_remove(chosen)
        }
        _ => return Err(Error::Unsupported("an addressing mode above 2")),
    };
    match profile {
        Profile::Iiop(iiop) => Ok(iiop.object_key),
        Profile::Other { .. } => Err(Error::Unsupported("a target without an IIOP profile")),
    }
}
