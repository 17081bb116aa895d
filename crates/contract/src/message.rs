//! What every message can do, and messages by name.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::contract::Contract;

/// A message of a contract.
///
/// Its serde form is the profile of contracts/README.md: fields in the order
/// of their numbers under the names of the .proto, every field written,
/// absent ones read as their zero, `bytes` as
/// [`BASE64_BINARY`](crate::BASE64_BINARY) in human-readable formats. Any
/// codec is therefore one serde serializer and one deserializer.
pub trait Message:
    prost::Message
    + Serialize
    + DeserializeOwned
    + Default
    + Clone
    + PartialEq
    + Debug
    + Send
    + Sync
    + 'static
{
    /// The name in the contract: `SubmitRequest`. No two contracts share one.
    const NAME: &'static str;

    /// The contract that defines it.
    const CONTRACT: Contract;

    /// The numbers of its fields that are lists.
    const LISTS: &'static [u32];
}

/// Something to be done with a type of message.
pub trait TypeVisitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<M: Message>(self) -> Self::Output;
}

/// Does something with a message's value.
pub trait MessageVisitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<M: Message>(self, message: &M) -> Self::Output;
}

/// Lets `visitor` see the message type of that name; `None` when no contract
/// has it.
pub fn visit_type<V: TypeVisitor>(name: &str, visitor: V) -> Option<V::Output> {
    visit_named(name, visitor)
}

include!(concat!(env!("OUT_DIR"), "/names.rs"));
