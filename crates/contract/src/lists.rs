//! Lists, bounded while they are read.
//!
//! An item can take two bytes on the wire and a hundred in memory: a bound on
//! a message's bytes alone would let its sender order gigabytes. serde's
//! readers count as they go; prost has no place to count at, so its messages
//! are counted beforehand, by their outermost fields.

use std::fmt;
use std::marker::PhantomData;

use prost::encoding::{DecodeContext, decode_key, skip_field};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use crate::message::Message;

/// Items that a list of a message holds at most: twice what any operation
/// takes, so that one too many for it is still refused in its own words
/// (contracts/README.md, Sizes).
pub const ITEMS_MAX: usize = 200_000;

/// Room that is made for items before they are there.
const ROOM_ITEMS_MAX: usize = 4096;

/// Bytes of the shortest item in Protocol Buffers: its key and a length of 0.
const PROTOBUF_ITEM_BYTES_MIN: usize = 2;

/// A list of more than [`ITEMS_MAX`] items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a list holds at most 200000 items")]
pub struct TooManyItems;

/// Why bytes are not a message of Protocol Buffers.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProtobufError {
    /// More than is read; nothing was decoded.
    #[error(transparent)]
    TooManyItems(#[from] TooManyItems),
    /// Not this message.
    #[error(transparent)]
    Malformed(#[from] prost::DecodeError),
}

/// Reads a message in Protocol Buffers.
///
/// # Errors
/// When the bytes are not that message, or one of its lists is too long.
pub fn from_protobuf<M: Message>(bytes: &[u8]) -> Result<M, ProtobufError> {
    check_protobuf::<M>(bytes)?;
    Ok(M::decode(bytes)?)
}

/// Counts the items of a message in Protocol Buffers before it is decoded.
/// The decoder handles malformed input.
///
/// # Errors
/// When a list is too long.
pub fn check_protobuf<M: Message>(bytes: &[u8]) -> Result<(), TooManyItems> {
    count(M::LISTS, bytes)
}

fn count(lists: &[u32], mut bytes: &[u8]) -> Result<(), TooManyItems> {
    // Too few bytes for that number of items: most messages are not walked twice.
    if lists.is_empty() || bytes.len() <= ITEMS_MAX * PROTOBUF_ITEM_BYTES_MIN {
        return Ok(());
    }
    let mut items = 0;
    while let Ok((field, form)) = decode_key(&mut bytes) {
        items += usize::from(lists.contains(&field));
        if items > ITEMS_MAX {
            return Err(TooManyItems);
        }
        // Not an error here: the decoder finds the same fault and describes it better.
        if skip_field(form, field, &mut bytes, DecodeContext::default()).is_err() {
            break;
        }
    }
    Ok(())
}

/// Reads a list of at most [`ITEMS_MAX`] items, each made of what was read by `made`.
///
/// # Errors
/// Where the reader fails, or the list is longer.
pub(crate) fn read<'de, D, T, M>(input: D, made: fn(T) -> M) -> Result<Vec<M>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    input.deserialize_seq(Items {
        made,
        read: PhantomData,
    })
}

struct Items<T, M> {
    made: fn(T) -> M,
    read: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>, M> Visitor<'de> for Items<T, M> {
    type Value = Vec<M>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<M>, A::Error> {
        // The hint may come from the sender: CBOR and CDR announce lengths before any item.
        let room = items.size_hint().unwrap_or(0).min(ROOM_ITEMS_MAX);
        let mut list = Vec::with_capacity(room);
        while let Some(item) = items.next_element::<T>()? {
            if list.len() == ITEMS_MAX {
                return Err(A::Error::custom(TooManyItems));
            }
            list.push((self.made)(item));
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::{SubmitRequest, UploadRequest};

    /// `items` empty records, as short as they can be.
    fn protobuf(items: usize) -> Vec<u8> {
        [0x12, 0].repeat(items)
    }

    fn json(items: usize) -> String {
        let records = vec!["{}"; items].join(",");
        format!("{{\"records\":[{records}]}}")
    }

    #[test]
    fn a_list_ends_at_its_bound_in_protobuf() {
        let most: SubmitRequest = from_protobuf(&protobuf(ITEMS_MAX)).unwrap();
        assert_eq!(most.records.len(), ITEMS_MAX);
        // A field that is not a list must not be counted, or the last item would be one too
        // many.
        let batch = [&b"\x0a\x01b"[..], &protobuf(ITEMS_MAX)].concat();
        assert_eq!(check_protobuf::<SubmitRequest>(&batch), Ok(()));
        let more = from_protobuf::<SubmitRequest>(&protobuf(ITEMS_MAX + 1));
        assert_eq!(more, Err(TooManyItems.into()));
        // Items of a list need not be adjacent in Protocol Buffers.
        let unsorted = [&protobuf(ITEMS_MAX)[..], b"\x0a\x01b", &protobuf(1)].concat();
        assert_eq!(
            check_protobuf::<SubmitRequest>(&unsorted),
            Err(TooManyItems)
        );
    }

    #[test]
    fn a_list_ends_at_its_bound_in_json() {
        let most: SubmitRequest = serde_json::from_str(&json(ITEMS_MAX)).unwrap();
        assert_eq!(most.records.len(), ITEMS_MAX);
        let more = serde_json::from_str::<SubmitRequest>(&json(ITEMS_MAX + 1)).unwrap_err();
        assert!(more.to_string().contains("at most 200000"), "{more}");
    }

    #[test]
    fn only_lists_are_counted() {
        assert_eq!(SubmitRequest::LISTS, [2]);
        assert!(UploadRequest::LISTS.is_empty());
        // Repeated field 1 is odd, but no list; the decoder judges truncated input.
        let batches = b"\x0a\x00".repeat(ITEMS_MAX + 1);
        assert_eq!(check_protobuf::<SubmitRequest>(&batches), Ok(()));
        let cut = [&protobuf(ITEMS_MAX)[..], b"\x0a\x7f"].concat();
        assert!(matches!(
            from_protobuf::<SubmitRequest>(&cut),
            Err(ProtobufError::Malformed(_))
        ));
    }
}
