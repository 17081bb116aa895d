//! Request and reply as types, so that the generated program's code takes them.

use std::fmt::Debug;
use std::marker::PhantomData;

use prost::bytes::{Buf, BufMut};
use prost::encoding::{DecodeContext, WireType};
use prost_reflect::{DynamicMessage, MessageDescriptor};
use serde::de::DeserializeSeed as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::rules::{Number, Renumber, Value};
use super::{digest, operation, read, write};

/// One of the two messages of the operation.
pub trait Part: Debug + Send + Sync {
    /// Its type.
    fn descriptor() -> MessageDescriptor;
}

/// The part of requests.
#[derive(Debug)]
pub struct Asked;

impl Part for Asked {
    fn descriptor() -> MessageDescriptor {
        operation::request()
    }
}

/// The part of replies.
#[derive(Debug)]
pub struct Answered;

impl Part for Answered {
    fn descriptor() -> MessageDescriptor {
        operation::reply()
    }
}

/// A message of the operation.
pub type Request = Message<Asked>;

/// A message of the operation.
pub type Reply = Message<Answered>;

/// A message whose type is that of a part.
#[derive(Debug)]
pub struct Message<P>(DynamicMessage, PhantomData<P>);

impl<P: Part> Default for Message<P> {
    fn default() -> Self {
        Message(DynamicMessage::new(P::descriptor()), PhantomData)
    }
}

impl<P: Part> prost::Message for Message<P> {
    fn encode_raw(&self, buffer: &mut impl BufMut) {
        self.0.encode_raw(buffer);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buffer: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), prost::DecodeError> {
        self.0.merge_field(tag, wire_type, buffer, context)
    }

    fn encoded_len(&self) -> usize {
        self.0.encoded_len()
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

impl<P: Part> Value for Message<P> {
    fn value(&self) -> u64 {
        digest::value_of(&self.0)
    }
}

impl<P: Part> Renumber for Message<P> {
    fn renumber(&self, n: &Number) -> Self {
        Message(digest::renumber_message(&self.0, n), PhantomData)
    }
}

impl<P> Serialize for Message<P> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        write::Tree(&self.0).serialize(to)
    }
}

impl<'de, P: Part> Deserialize<'de> for Message<P> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let read = read::Tree(P::descriptor()).deserialize(from)?;
        Ok(Message(read, PhantomData))
    }
}
