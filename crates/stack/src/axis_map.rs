//! A point of the axis table as text: every axis with its value.

use std::collections::BTreeMap;

use serde::de::{Deserializer, Error as _};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use crate::axes::{Axis, COUNT_MAX, Number, TABLE, Unit, find};
use crate::bindings::Binding;
use crate::values::UnknownValue;

/// A binding and the axes that were named; all others have their default. In JSON an object of
/// texts, `{"binding": "rest", "codec": "xml"}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisMap {
    binding: Binding,
    // Values as written, not as resolved: an axis named with its default is not equal to
    // one left out, and is written again.
    named: BTreeMap<&'static str, String>,
}

/// Why a text is not an axis, or not a value of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AxisError {
    /// No such axis.
    #[error("there is no axis {0:?}")]
    UnknownAxis(String),
    /// No such value.
    #[error("axis {axis} has no value {text:?}")]
    UnknownValue {
        /// The axis.
        axis: &'static str,
        /// What was written.
        text: String,
    },
    /// No binding, or none of that name.
    #[error(transparent)]
    Binding(#[from] UnknownValue),
}

impl AxisMap {
    /// A binding with its defaults.
    #[must_use]
    pub fn new(binding: Binding) -> AxisMap {
        AxisMap {
            binding,
            named: BTreeMap::new(),
        }
    }

    /// The binding.
    #[must_use]
    pub fn binding(&self) -> Binding {
        self.binding
    }

    /// The value of an axis, `binding` included.
    ///
    /// # Panics
    /// When the table has no such axis.
    #[must_use]
    pub fn value(&self, name: &str) -> &str {
        if name == "binding" {
            return self.binding.name();
        }
        // A name outside the table is a mistake of the program, not of its input: `set` has
        // refused all others.
        match self.named.get(name) {
            Some(value) => value,
            None => default(self.binding, find(name).expect("an axis of the table")),
        }
    }

    /// Names an axis.
    ///
    /// # Errors
    /// When there is no such axis, or it has no such value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), AxisError> {
        let axis = find(name).ok_or_else(|| AxisError::UnknownAxis(name.to_owned()))?;
        if !axis.takes(value) {
            return Err(AxisError::UnknownValue {
                axis: axis.name,
                text: value.to_owned(),
            });
        }
        self.named.insert(axis.name, value.to_owned());
        Ok(())
    }
}

/// The value of an unnamed axis.
#[must_use]
pub fn default(binding: Binding, axis: &Axis) -> &'static str {
    match axis.name {
        // The only two axes whose default depends on another axis.
        "codec" => binding.row().codecs[0].name(),
        "transport" => binding.row().transports[0].name(),
        _ => axis.default,
    }
}

impl Axis {
    /// Whether `text` is a value in canonical form: numbers in decimal digits, without a unit.
    #[must_use]
    pub fn takes(&self, text: &str) -> bool {
        // Words first: an axis can have both, `kernel` or a number of bytes.
        if self.names.contains(&text) {
            return true;
        }
        if let Some((word, count)) = text.split_once('=') {
            // 0 connections or 0 calls in flight would never make a call.
            return self.counted.contains(&word) && number(count, 1, COUNT_MAX);
        }
        match self.number {
            Some(Number { unit, min, max }) => {
                let digits = match unit {
                    Unit::Percent => text.strip_suffix('%'),
                    _ => Some(text),
                };
                digits.is_some_and(|digits| number(digits, min, max))
            }
            None => false,
        }
    }
}

fn number(digits: &str, min: u32, max: u32) -> bool {
    // `u32::from_str` alone would take a leading plus sign too, and `pool=+1` would be a
    // second spelling of `pool=1`.
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain
        && digits
            .parse()
            .is_ok_and(|number| (min..=max).contains(&number))
}

impl Serialize for AxisMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1 + self.named.len()))?;
        map.serialize_entry("binding", self.binding.name())?;
        // In the order of the table, not of the alphabet, like references.
        for axis in TABLE {
            if let Some(value) = self.named.get(axis.name) {
                map.serialize_entry(axis.name, value)?;
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for AxisMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut texts = BTreeMap::<String, String>::deserialize(deserializer)?;
        // First, whatever its position in the object: defaults of other axes depend on it.
        let binding = texts
            .remove("binding")
            .ok_or_else(|| D::Error::missing_field("binding"))?;
        let mut axes = AxisMap::new(binding.parse().map_err(D::Error::custom)?);
        for (name, value) in texts {
            axes.set(&name, &value).map_err(D::Error::custom)?;
        }
        Ok(axes)
    }
}
