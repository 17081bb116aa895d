//! Common Data Representation (CORBA 3.3 part 2, section 9.3), both byte orders.
//!
//! Every primitive lies at a multiple of its size, counted from the beginning
//! of its message or encapsulation, and that is all that makes CDR other than
//! "one value after the other": no tags, no names, no versions. [`Reader`] and
//! [`Writer`] know the primitives and their places; on them are built the serde
//! forms of the contracts' messages, by the CDR column of contracts/README.md:
//!
//! | serde | CDR |
//! |---|---|
//! | `bool`, integers, floats | `boolean`, `short` … `unsigned long long`, `float`, `double` |
//! | text | `string`: length with its NUL, UTF-8, NUL |
//! | bytes | `sequence<octet>` |
//! | sequence | its length, then its items |
//! | `Option` | a sequence of none or one |
//! | struct, tuple | the fields in their order |
//!
//! Readers refuse what a writer never writes, and allocate nothing for a
//! length before the bytes that it announces have come.

mod deserializer;
mod error;
mod reader;
mod serializer;
mod writer;

use serde::de::DeserializeOwned;
use serde::ser::Serialize;

use deserializer::Deserializer;
pub use error::{Error, StringFault};
pub use reader::{Break, Reader};
use serializer::Serializer;
pub use wirelab_stack::ByteOrder;
pub use writer::Writer;

/// A message by itself, aligned from its first byte on.
///
/// # Errors
/// When the type has no form in CDR, or a length exceeds 2^32 - 1.
pub fn to_vec<M: Serialize + ?Sized>(order: ByteOrder, message: &M) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    write(order, message, &mut bytes, 0)?;
    Ok(bytes)
}

/// Appends a message to `out`, aligned as if it followed `start_alignment`
/// bytes of its message or encapsulation: 0 for the 8-aligned body of GIOP 1.2.
///
/// # Errors
/// When the type has no form in CDR, or a length exceeds 2^32 - 1.
pub fn write<M: Serialize + ?Sized>(
    order: ByteOrder,
    message: &M,
    out: &mut Vec<u8>,
    start_alignment: usize,
) -> Result<(), Error> {
    let mut writer = Writer::new(order, out, start_alignment);
    message.serialize(Serializer::new(&mut writer))
}

/// Reads a message that fills `bytes`, aligned from its first byte on.
///
/// # Errors
/// When the bytes are not that message, or more than that message.
pub fn from_slice<M: DeserializeOwned>(order: ByteOrder, bytes: &[u8]) -> Result<M, Error> {
    from_reader(Reader::new(order, bytes, 0))
}

/// Reads a message that fills the rest of a reader.
///
/// # Errors
/// When the bytes are not that message, or more than that message.
pub fn from_reader<M: DeserializeOwned>(mut reader: Reader<'_>) -> Result<M, Error> {
    let message = M::deserialize(Deserializer::new(&mut reader))?;
    reader.finish()?;
    Ok(message)
}
