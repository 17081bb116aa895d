//! A message within a message: always written, absent ones read as the zero message.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::Object;

/// Writes the nested message, or its zero where there is none: the profile of
/// contracts/README.md writes every field that is not optional.
pub(crate) fn serialize<S, M>(nested: &Option<M>, output: S) -> Result<S::Ok, S::Error>
where
    S: Serializer,
    M: Serialize + Default,
{
    match nested {
        Some(message) => message.serialize(output),
        None => M::default().serialize(output),
    }
}

/// Reads a nested message: in human-readable formats an object only, in others the
/// derived form, whose readers know no maps (CDR).
pub(crate) fn deserialize<'de, D, M>(input: D) -> Result<Option<M>, D::Error>
where
    D: Deserializer<'de>,
    M: Deserialize<'de>,
{
    if input.is_human_readable() {
        // Always `Some`: serde's default gives None where the field is absent.
        Object::deserialize(input).map(|object| Some(object.0))
    } else {
        M::deserialize(input).map(Some)
    }
}
