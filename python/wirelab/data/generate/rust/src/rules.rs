//! What every service of a contract computes: the digest of a request, and the number that its
//! reply gets. Both are sums over all fields, so that no field can stay unread.

use std::collections::HashMap;
use std::hash::Hash;

use prost_types::{Duration, Timestamp};

/// Numbers of replies are below it.
const MODULUS: u64 = 1000;

/// What a field adds to a digest.
pub trait Value {
    /// The value; of a message, 1 and its digest.
    fn value(&self) -> u64;
}

/// The value of a field.
pub fn value<T: Value>(of: &T) -> u64 {
    of.value()
}

/// The value of what may be absent, a scalar or one of several members.
pub fn optional<T: Value>(of: &Option<T>) -> u64 {
    of.as_ref().map_or(0, |of| of.value().wrapping_add(1))
}

/// The value of a message, or of a moment, that may be absent.
pub fn message<T: Value>(of: &Option<T>) -> u64 {
    of.as_ref().map_or(0, Value::value)
}

/// The digest of a message.
pub fn digest<T: Value>(of: &T) -> u64 {
    of.value().wrapping_sub(1)
}

/// The sum of a message's fields.
#[derive(Default)]
pub struct Sum(u64);

impl Sum {
    /// Adds a field's value, times its number.
    pub fn field(self, number: u64, value: u64) -> Self {
        Sum(self.0.wrapping_add(number.wrapping_mul(value)))
    }

    /// The value of the message.
    pub fn value(self) -> u64 {
        self.0.wrapping_add(1)
    }
}

/// A copy of a part of the sample reply, with a number in it.
pub trait Renumber {
    /// The copy.
    fn renumber(&self, n: &Number) -> Self;
}

/// The copy of a field.
pub fn renumber<T: Renumber>(of: &T, n: &Number) -> T {
    of.renumber(n)
}

/// What carries the number of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbered {
    /// All its numbers.
    Numbers,
    /// All its texts.
    Text,
}

/// What a reply is made different by.
pub struct Number {
    value: u16,
    /// Appended to texts; empty where numbers carry it.
    text: String,
}

impl Number {
    /// That of the reply to a request with this digest.
    pub fn of(digest: u64, numbered: Numbered) -> Self {
        let value = (digest % MODULUS) as u16;
        let text = match numbered {
            Numbered::Numbers => String::new(),
            Numbered::Text => format!("{value:03}"),
        };
        Number { value, text }
    }
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Value for $integer {
            // Two's complement of 64 bits.
            fn value(&self) -> u64 {
                *self as u64
            }
        }

        impl Renumber for $integer {
            fn renumber(&self, n: &Number) -> Self {
                self.wrapping_add(n.value.into())
            }
        }
    )*};
}

integers! { i32 i64 u32 u64 }

macro_rules! floats {
    ($($float:ty)*) => {$(
        impl Value for $float {
            // Both zeros count 0.
            fn value(&self) -> u64 {
                if *self == 0.0 { 0 } else { f64::from(*self).to_bits() }
            }
        }

        impl Renumber for $float {
            fn renumber(&self, n: &Number) -> Self {
                self + <$float>::from(n.value)
            }
        }
    )*};
}

floats! { f32 f64 }

impl Value for bool {
    fn value(&self) -> u64 {
        u64::from(*self)
    }
}

impl Renumber for bool {
    fn renumber(&self, _: &Number) -> Self {
        *self
    }
}

impl Value for String {
    fn value(&self) -> u64 {
        let first = self.chars().next().map_or(0, u64::from);
        self.chars().count() as u64 + first
    }
}

impl Renumber for String {
    fn renumber(&self, n: &Number) -> Self {
        let mut copy = String::with_capacity(self.len() + n.text.len());
        copy.push_str(self);
        copy.push_str(&n.text);
        copy
    }
}

impl Value for Vec<u8> {
    fn value(&self) -> u64 {
        self.len() as u64 + self.first().map_or(0, |first| u64::from(*first))
    }
}

impl Renumber for Vec<u8> {
    fn renumber(&self, _: &Number) -> Self {
        self.clone()
    }
}

impl<T: Value> Value for Vec<T> {
    fn value(&self) -> u64 {
        let sum = |total: u64, item: &T| total.wrapping_add(item.value());
        self.iter().fold(self.len() as u64, sum)
    }
}

impl<T: Renumber> Renumber for Vec<T> {
    fn renumber(&self, n: &Number) -> Self {
        self.iter().map(|item| item.renumber(n)).collect()
    }
}

impl<K: Value, V: Value> Value for HashMap<K, V> {
    fn value(&self) -> u64 {
        let sum = |total: u64, (key, item): (&K, &V)| {
            total.wrapping_add(key.value()).wrapping_add(item.value())
        };
        self.iter().fold(self.len() as u64, sum)
    }
}

impl<K: Clone + Eq + Hash, V: Renumber> Renumber for HashMap<K, V> {
    fn renumber(&self, n: &Number) -> Self {
        self.iter()
            .map(|(key, item)| (key.clone(), item.renumber(n)))
            .collect()
    }
}

impl<T: Renumber> Renumber for Option<T> {
    fn renumber(&self, n: &Number) -> Self {
        self.as_ref().map(|of| of.renumber(n))
    }
}

impl<T: Value> Value for Box<T> {
    fn value(&self) -> u64 {
        self.as_ref().value()
    }
}

impl<T: Renumber> Renumber for Box<T> {
    fn renumber(&self, n: &Number) -> Self {
        Box::new(self.as_ref().renumber(n))
    }
}

macro_rules! moments {
    ($($moment:ty)*) => {$(
        impl Value for $moment {
            fn value(&self) -> u64 {
                (self.seconds as u64).wrapping_add(self.nanos as u64)
            }
        }

        impl Renumber for $moment {
            fn renumber(&self, _: &Number) -> Self {
                self.clone()
            }
        }
    )*};
}

moments! { Timestamp Duration }
