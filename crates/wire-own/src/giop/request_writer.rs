//! GIOP 1.2 messages that a client sends (CORBA 3.3 part 2, section 9.4.2).

use super::message::{HEADER_BYTES, Kind, MessageHeader, Version, write_message};
use super::options::Options;
use super::service_contexts::{self, CodeSets};
use crate::cdr::{ByteOrder, Error, Writer};
use crate::session::Request;

/// Different requests whose headers are remembered.
// More than the operations of any contract, which a mix calls in turn; the bound keeps the
// linear search short.
const CACHED_HEADERS_MAX: usize = 64;

/// `response_flags`: the reply comes from the object itself (`SYNC_WITH_TARGET`).
const WITH_TARGET: u8 = 3;

/// `TargetAddress`: the object is named by its key (`KeyAddr`).
const KEY_ADDR: i16 = 0;

/// Headers of one session's requests, written once and remembered.
#[derive(Debug, Default)]
pub(super) struct HeaderCache {
    code_sets_sent: bool,
    // By `Request::id`; the request id in the copy is 0 and is overwritten for each
    // call.
    known: Vec<(u64, Box<[u8]>)>,
}

impl HeaderCache {
    /// The request that carried the code sets was never sent.
    pub(super) fn resend_code_sets(&mut self) {
        self.code_sets_sent = false;
    }

    /// The header of `request` as number `id`, up to where its body begins.
    /// The connection's first also carries the code sets.
    pub(super) fn of(&mut self, request: &Request, options: &Options, id: u32) -> Vec<u8> {
        // Section 7.10.2.6: negotiated once per connection, in its first request.
        let first = !self.code_sets_sent;
        self.code_sets_sent = true;
        let mut known = self.known.iter();
        let mut head = match known.find(|(known, _)| *known == request.id) {
            Some((_, head)) if !first => head.to_vec(),
            _ => write_head(request, options, first.then(CodeSets::default)),
        };
        let is_new = !self.known.iter().any(|(known, _)| *known == request.id);
        if !first && is_new && self.known.len() < CACHED_HEADERS_MAX {
            self.known.push((request.id, head.clone().into()));
        }
        let number = match options.byte_order {
            ByteOrder::Big => id.to_be_bytes(),
            ByteOrder::Little => id.to_le_bytes(),
        };
        // The request id is the first field of a GIOP 1.2 request; in 1.0 it follows
        // the contexts.
        head[HEADER_BYTES..HEADER_BYTES + 4].copy_from_slice(&number);
        head
    }
}

/// The header of a request as number 0.
fn write_head(request: &Request, options: &Options, code_sets: Option<CodeSets>) -> Vec<u8> {
    let order = options.byte_order;
    let mut head = Vec::with_capacity(128);
    write_message(&mut head, Version::V12, order, Kind::Request, |out| {
        write_fields(request, options, code_sets, out)
    })
    .expect("checked names have a form in CDR");
    // The body is sent from its own buffer behind this header, so that the length must
    // include it.
    let size = head.len() - HEADER_BYTES + request.body.len();
    let header = MessageHeader {
        version: Version::V12,
        order,
        more: false,
        kind: Kind::Request,
        size: u32::try_from(size).expect("checked requests are within the largest size"),
    };
    head[..HEADER_BYTES].copy_from_slice(&header.bytes());
    head
}

fn write_fields(
    request: &Request,
    options: &Options,
    code_sets: Option<CodeSets>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let mut writer = Writer::new(options.byte_order, out, HEADER_BYTES);
    writer.ulong(0);
    writer.octet(WITH_TARGET);
    // Three reserved octets follow response_flags (section 9.4.2.1).
    writer.raw(&[0; 3]);
    // `AddressingDisposition` is a `short`, so that it aligns to 2: it follows the
    // octets directly.
    writer.short(KEY_ADDR);
    writer.octets(&options.object_key)?;
    writer.string(&request.path)?;
    service_contexts::write(&mut writer, code_sets)?;
    // Section 9.4.2.2: only a body is aligned to 8.
    if !request.body.is_empty() {
        writer.align(8);
    }
    Ok(())
}

/// A CancelRequest for request number `id`.
pub(super) fn cancel(order: ByteOrder, id: u32) -> Vec<u8> {
    let mut message = Vec::with_capacity(16);
    write_message(
        &mut message,
        Version::V12,
        order,
        Kind::CancelRequest,
        |out| {
            Writer::new(order, out, HEADER_BYTES).ulong(id);
            Ok(())
        },
    )
    .expect("four bytes are a message");
    message
}
