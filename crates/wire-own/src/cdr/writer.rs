//! Primitives on their way out, each in its place.

use super::error::Error;
use wirelab_stack::ByteOrder;

/// Appends CDR primitives to a buffer.
#[derive(Debug)]
pub struct Writer<'a> {
    order: ByteOrder,
    out: &'a mut Vec<u8>,
    /// What to add to a place in `out` to get its alignment.
    shift: usize,
}

/// `$name` writes `$type` at a multiple of its size.
macro_rules! numbers {
    ($($name:ident: $type:ty),*) => {$(
        #[doc = concat!("Appends `", stringify!($type), "` at a multiple of its size.")]
        #[inline]
        pub fn $name(&mut self, value: $type) {
            self.align(size_of::<$type>());
            match self.order {
                ByteOrder::Big => self.out.extend_from_slice(&value.to_be_bytes()),
                ByteOrder::Little => self.out.extend_from_slice(&value.to_le_bytes()),
            }
        }
    )*};
}

impl<'a> Writer<'a> {
    /// Appends to `out` as if `start_alignment` bytes of the message or
    /// encapsulation came before.
    pub fn new(order: ByteOrder, out: &'a mut Vec<u8>, start_alignment: usize) -> Writer<'a> {
        // Only the sum modulo 8 matters, so that wrapping does no harm.
        // A buffer may hold earlier messages, so that alignment is relative to where
        // this one begins.
        let shift = start_alignment.wrapping_sub(out.len());
        Writer { order, out, shift }
    }

    /// The order that numbers are written in.
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Pads with zeros to a multiple of `size`, which is 1, 2, 4 or 8.
    #[inline]
    pub fn align(&mut self, size: usize) {
        let place = self.out.len().wrapping_add(self.shift);
        // Padding octets are undefined (section 9.3.1); zeros make the bytes reproducible.
        let padding = place.wrapping_neg() & (size - 1);
        self.out.extend_from_slice(&[0; 8][..padding]);
    }

    numbers! {
        octet: u8, short: i16, ushort: u16, long: i32, ulong: u32,
        long_long: i64, ulong_long: u64, float: f32, double: f64
    }

    /// Appends a length.
    ///
    /// # Errors
    /// When it exceeds 2^32 - 1.
    #[inline]
    pub fn length(&mut self, length: usize) -> Result<(), Error> {
        self.ulong(u32::try_from(length).map_err(|_| Error::TooLong(length))?);
        Ok(())
    }

    /// Appends bytes as they are, without a length.
    #[inline]
    pub fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Appends a `sequence<octet>`.
    ///
    /// # Errors
    /// When it is longer than 2^32 - 1 bytes.
    #[inline]
    pub fn octets(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.length(bytes.len())?;
        self.raw(bytes);
        Ok(())
    }

    /// Appends a `string`.
    ///
    /// # Errors
    /// When it holds NUL, or is longer than 2^32 - 2 bytes.
    #[inline]
    pub fn string(&mut self, text: &str) -> Result<(), Error> {
        if memchr::memchr(0, text.as_bytes()).is_some() {
            return Err(Error::Unsupported("a string with NUL within"));
        }
        // The length counts the NUL (section 9.3.2.7).
        self.length(text.len() + 1)?;
        self.raw(text.as_bytes());
        self.octet(0);
        Ok(())
    }
}
