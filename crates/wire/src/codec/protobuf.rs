//! Replies in Protocol Buffers, read where they lie.
//!
//! The rules are those of the Protocol Buffers encoding guide: fields in any
//! order, unknown ones passed over, the last of several values of one field
//! counts. Groups are refused: proto3 has none.

use std::borrow::Cow;

use super::views::{HelloView, RefusalView, SubmitView, UploadView};
use super::{Codec, Mismatch};

/// Bytes of the longest varint of 64 bits.
const VARINT_BYTES_MAX: usize = 10;

/// The content of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value<'a> {
    Varint(u64),
    Fixed,
    Bytes(&'a [u8]),
}

/// Takes a message apart.
#[derive(Debug)]
struct Fields<'a> {
    input: &'a [u8],
    at: usize,
    /// Where `input` begins in the whole message.
    base: usize,
}

/// One field: number, content, and where the content begins.
#[derive(Debug, Clone, Copy)]
struct Field<'a> {
    number: u32,
    value: Value<'a>,
    /// From the start of the whole message.
    offset: usize,
}

impl<'a> Fields<'a> {
    fn new(input: &'a [u8]) -> Self {
        Fields {
            input,
            at: 0,
            base: 0,
        }
    }

    fn read_within(field: &Field<'a>) -> Result<Self, Mismatch> {
        Ok(Fields {
            input: field.bytes()?,
            at: 0,
            base: field.offset,
        })
    }

    fn next(&mut self) -> Result<Option<Field<'a>>, Mismatch> {
        if self.at == self.input.len() {
            return Ok(None);
        }
        // Field number << 3 | wire type (encoding guide, "Message Structure").
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3)
            .ok()
            .filter(|n| (1..1 << 29).contains(n));
        let number = number.ok_or_else(|| self.malformed("field numbers are 1 to 2^29 - 1"))?;
        let value = match tag & 7 {
            0 => Value::Varint(self.varint()?),
            // Wire types 1 and 5 are passed over: no message of the contracts has them here.
            1 => self.take(8).map(|_| Value::Fixed)?,
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Value::Fixed)?,
            3 | 4 => return Err(self.malformed("a group, which proto3 does not have")),
            _ => return Err(self.malformed("no such wire type")),
        };
        let offset = match value {
            Value::Bytes(bytes) => self.base + self.at - bytes.len(),
            _ => self.base + self.at,
        };
        Ok(Some(Field {
            number,
            value,
            offset,
        }))
    }

    fn varint(&mut self) -> Result<u64, Mismatch> {
        let mut number = 0_u64;
        for (k, &byte) in self.input[self.at..]
            .iter()
            .take(VARINT_BYTES_MAX)
            .enumerate()
        {
            // The tenth byte holds bit 63 only.
            if k == VARINT_BYTES_MAX - 1 && byte > 1 {
                return Err(self.malformed("a varint of more than 64 bits"));
            }
            number |= u64::from(byte & 0x7F) << (7 * k);
            if byte < 0x80 {
                self.at += k + 1;
                return Ok(number);
            }
        }
        Err(self.malformed("a varint without an end"))
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], Mismatch> {
        // Compared with what is left before anything is allocated: a length can announce
        // 2^64 bytes.
        let rest = &self.input[self.at..];
        let length = usize::try_from(length)
            .ok()
            .filter(|&length| length <= rest.len());
        let length =
            length.ok_or_else(|| self.malformed("a field that is longer than its message"))?;
        self.at += length;
        Ok(&rest[..length])
    }

    fn malformed(&self, why: &str) -> Mismatch {
        Mismatch::malformed(Codec::Protobuf, self.base + self.at, why)
    }
}

impl<'a> Field<'a> {
    fn bytes(&self) -> Result<&'a [u8], Mismatch> {
        match self.value {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(self.wrong_wire_type()),
        }
    }

    /// Strings are UTF-8 (language guide, scalar value types).
    fn string(&self) -> Result<Cow<'a, str>, Mismatch> {
        let text = std::str::from_utf8(self.bytes()?).map_err(|error| {
            let offset = self.offset + error.valid_up_to();
            Mismatch::malformed(Codec::Protobuf, offset, "a string that is not UTF-8")
        })?;
        Ok(Cow::Borrowed(text))
    }

    fn int64(&self) -> Result<i64, Mismatch> {
        match self.value {
            // Negative values are sign-extended to 64 bits, ten bytes, not zigzag.
            Value::Varint(number) => Ok(number as i64),
            _ => Err(self.wrong_wire_type()),
        }
    }

    /// An int32 is sent as an int64; a value that is too large is cut to 32 bits,
    /// as the encoding guide specifies.
    fn int32(&self) -> Result<i32, Mismatch> {
        self.int64().map(|number| number as i32)
    }

    fn wrong_wire_type(&self) -> Mismatch {
        let why = format!(
            "field {} has another wire type in the contract",
            self.number
        );
        Mismatch::malformed(Codec::Protobuf, self.offset, &why)
    }
}

/// HelloReply.
pub(super) fn hello(message: &[u8]) -> Result<HelloView<'_>, Mismatch> {
    let mut view = HelloView::default();
    let mut fields = Fields::new(message);
    while let Some(field) = fields.next()? {
        if field.number == 1 {
            // The last of several values counts, as the encoding guide demands of parsers.
            view.text = field.string()?;
        }
    }
    Ok(view)
}

/// The only field of HelloBytesReply and of DownloadChunk.
pub(super) fn bytes(message: &[u8]) -> Result<&[u8], Mismatch> {
    let mut bytes: &[u8] = &[];
    let mut fields = Fields::new(message);
    while let Some(field) = fields.next()? {
        if field.number == 1 {
            bytes = field.bytes()?;
        }
    }
    Ok(bytes)
}

/// SubmitReply.
pub(super) fn submit(message: &[u8]) -> Result<SubmitView<'_>, Mismatch> {
    let mut view = SubmitView::default();
    let mut fields = Fields::new(message);
    while let Some(field) = fields.next()? {
        match field.number {
            1 => view.batch = field.string()?,
            2 => view.accepted = field.int32()?,
            3 => view.quantity_total = field.int64()?,
            // A repeated message is one field per item.
            4 => view.refused.push(refusal(Fields::read_within(&field)?)?),
            _ => {}
        }
    }
    Ok(view)
}

fn refusal(mut fields: Fields<'_>) -> Result<RefusalView<'_>, Mismatch> {
    let mut view = RefusalView::default();
    while let Some(field) = fields.next()? {
        match field.number {
            1 => view.id = field.int64()?,
            2 => view.reason = field.string()?,
            _ => {}
        }
    }
    Ok(view)
}

/// UploadReply.
pub(super) fn upload(message: &[u8]) -> Result<UploadView<'_>, Mismatch> {
    let mut view = UploadView::default();
    let mut fields = Fields::new(message);
    while let Some(field) = fields.next()? {
        match field.number {
            1 => view.length = field.int64()?,
            2 => view.sha256 = field.string()?,
            _ => {}
        }
    }
    Ok(view)
}
