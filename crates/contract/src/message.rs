//! What every message can do, and messages by name.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

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

    /// The message with each of its lists in one element around the items: the form
    /// of SOAP's rpc styles, where a part of a message stands exactly once (WS-I Basic
    /// Profile 1.1, 4.7). The message itself where it has no list.
    type Parts: From<Self> + Into<Self> + Serialize + DeserializeOwned;
}

/// The items of a list within the element of that list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, bound(deserialize = "T: Deserialize<'de>"))]
pub struct Items<T> {
    #[serde(deserialize_with = "crate::json::objects")]
    item: Vec<T>,
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Items { item: Vec::new() }
    }
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
