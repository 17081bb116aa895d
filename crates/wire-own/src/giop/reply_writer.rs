//! What a server answers.

use serde::Serialize;

use super::exceptions::{SystemException, UserException};
use super::ior::Ior;
use super::message::{Kind, Version, write_message};
use crate::cdr::{self, ByteOrder, Error, Writer};

/// `reply_status` (CORBA 3.3 part 2, section 9.4.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyStatus {
    /// The body is the result.
    NoException,
    /// The body is a user exception.
    UserException,
    /// The body is a system exception.
    SystemException,
    /// The body is the IOR to call instead, this time.
    LocationForward,
    /// The body is the IOR to call instead, from now on.
    LocationForwardPerm,
    /// The body is the addressing mode that the server demands.
    NeedsAddressingMode,
}

impl ReplyStatus {
    // In the order of `ReplyStatusType_1_2`; older versions have the first four only.
    const ALL: [ReplyStatus; 6] = [
        ReplyStatus::NoException,
        ReplyStatus::UserException,
        ReplyStatus::SystemException,
        ReplyStatus::LocationForward,
        ReplyStatus::LocationForwardPerm,
        ReplyStatus::NeedsAddressingMode,
    ];

    pub(super) fn of(number: u32) -> Option<ReplyStatus> {
        ReplyStatus::ALL.get(number as usize).copied()
    }
}

/// `locate_status` without those that carry a body (section 9.4.6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocateStatus {
    /// This server knows no such object.
    UnknownObject,
    /// This server has it.
    ObjectHere,
}

/// The request that a reply answers, and how the reply must be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyTo {
    /// The version of the request.
    pub version: Version,
    /// The order of numbers in the reply; any.
    pub order: ByteOrder,
    /// The request's number.
    pub id: u32,
}

impl ReplyTo {
    /// Appends a Reply with a body that is CDR aligned from its first byte on,
    /// in this reply's byte order.
    ///
    /// # Errors
    /// When it would be longer than a message can be.
    pub fn reply(&self, out: &mut Vec<u8>, status: ReplyStatus, body: &[u8]) -> Result<(), Error> {
        self.message(out, status, |out| {
            out.extend_from_slice(body);
            Ok(())
        })
    }

    /// Appends a Reply with a result.
    ///
    /// # Errors
    /// When the result has no form in CDR.
    pub fn result<M: Serialize>(&self, out: &mut Vec<u8>, result: &M) -> Result<(), Error> {
        self.message(out, ReplyStatus::NoException, |out| {
            cdr::write(self.order, result, out, 0)
        })
    }

    /// Appends a Reply with a user exception.
    ///
    /// # Errors
    /// When a text contains NUL.
    pub fn user_exception(
        &self,
        out: &mut Vec<u8>,
        exception: &UserException,
    ) -> Result<(), Error> {
        self.message(out, ReplyStatus::UserException, |out| {
            exception.write(self.order, out)
        })
    }

    /// Appends a Reply with a system exception.
    ///
    /// # Errors
    /// When the id contains NUL.
    pub fn system_exception(
        &self,
        out: &mut Vec<u8>,
        exception: &SystemException,
    ) -> Result<(), Error> {
        self.message(out, ReplyStatus::SystemException, |out| {
            exception.write(self.order, out)
        })
    }

    /// Appends a Reply that redirects the caller; `permanent` exists in
    /// GIOP 1.2 only and is left out in older versions.
    ///
    /// # Errors
    /// When a text in `ior` contains NUL.
    pub fn forward(&self, out: &mut Vec<u8>, ior: &Ior, permanent: bool) -> Result<(), Error> {
        let status = if permanent && self.version == Version::V12 {
            ReplyStatus::LocationForwardPerm
        } else {
            ReplyStatus::LocationForward
        };
        self.message(out, status, |out| {
            ior.write(&mut Writer::new(self.order, out, 0))
        })
    }

    /// Appends a LocateReply.
    pub fn locate(&self, out: &mut Vec<u8>, status: LocateStatus) {
        write_message(out, self.version, self.order, Kind::LocateReply, |out| {
            let mut writer = Writer::new(self.order, out, 12);
            writer.ulong(self.id);
            // `UNKNOWN_OBJECT` is 0 and `OBJECT_HERE` is 1, as in
            // `LocateStatusType_1_2`.
            writer.ulong(status as u32);
            Ok(())
        })
        .expect("eight bytes are a message");
    }

    /// Without service contexts a body begins 24 bytes into the message, which
    /// is a multiple of 8, whatever the version.
    fn message(
        &self,
        out: &mut Vec<u8>,
        status: ReplyStatus,
        body: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        write_message(out, self.version, self.order, Kind::Reply, |out| {
            let mut writer = Writer::new(self.order, out, 12);
            match self.version {
                // 1.2 moved the service contexts behind the status; 0 is their count.
                Version::V12 => [self.id, status as u32, 0],
                Version::V10 | Version::V11 => [0, self.id, status as u32],
            }
            .into_iter()
            .for_each(|number| writer.ulong(number));
            body(out)
        })
    }
}

/// Appends a MessageError: "what I was sent is not GIOP that I understand".
pub fn message_error(out: &mut Vec<u8>, version: Version) {
    empty(out, version, Kind::MessageError);
}

/// Appends a CloseConnection. Servers send it in any version, clients in 1.2.
pub fn close_connection(out: &mut Vec<u8>, version: Version) {
    empty(out, version, Kind::CloseConnection);
}

fn empty(out: &mut Vec<u8>, version: Version, kind: Kind) {
    // Any byte order will do: the size, 0, reads the same in both.
    write_message(out, version, ByteOrder::Big, kind, |_| Ok(()))
        .expect("a header alone is a message");
}
