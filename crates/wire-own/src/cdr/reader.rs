//! Primitives read where they lie.

use super::error::{Error, StringFault};
use wirelab_stack::ByteOrder;

/// Where alignment starts again: GIOP 1.1 aligns the content of a Fragment by
/// its place in that Fragment (CORBA 3.3 part 2, section 9.4.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Break {
    /// The byte from which on it holds.
    pub at: usize,
    /// The alignment of that byte.
    pub alignment: usize,
}

/// Takes CDR primitives off the front of a slice. No input makes it panic.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    order: ByteOrder,
    input: &'a [u8],
    at: usize,
    /// What to add to a place in `input` to get its alignment.
    shift: usize,
    // Empty for all but fragmented messages of GIOP 1.1, so that the check in `align`
    // costs one comparison.
    breaks: &'a [Break],
}

/// `$name` reads `$type` at a multiple of its size.
macro_rules! numbers {
    ($($name:ident: $type:ty),*) => {$(
        #[doc = concat!("Takes `", stringify!($type), "`.")]
        ///
        /// # Errors
        /// When the bytes end before it does.
        #[inline]
        pub fn $name(&mut self) -> Result<$type, Error> {
            self.align(size_of::<$type>());
            // By array, not by cast: the slice may begin at any address, and its
            // alignment in CDR says nothing about memory.
            let bytes = self.array()?;
            Ok(match self.order {
                ByteOrder::Big => <$type>::from_be_bytes(bytes),
                ByteOrder::Little => <$type>::from_le_bytes(bytes),
            })
        }
    )*};
}

impl<'a> Reader<'a> {
    /// Reads `input` as if `start_alignment` bytes of the message or
    /// encapsulation came before.
    #[must_use]
    pub fn new(order: ByteOrder, input: &'a [u8], start_alignment: usize) -> Reader<'a> {
        Reader {
            order,
            input,
            at: 0,
            shift: start_alignment,
            breaks: &[],
        }
    }

    /// The same with alignment starting again at `breaks`, in their order.
    #[must_use]
    pub fn with_breaks(self, breaks: &'a [Break]) -> Reader<'a> {
        Reader { breaks, ..self }
    }

    /// An encapsulation (section 9.3.3): the octet of its byte order, then its
    /// content, aligned from that octet on.
    ///
    /// # Errors
    /// When it is empty.
    pub fn encapsulation(input: &'a [u8]) -> Result<Reader<'a>, Error> {
        let mut reader = Reader::new(ByteOrder::Big, input, 0);
        // Bit 0 alone: 0 is big-endian, 1 little-endian (section 9.3.3). One octet has
        // no byte order, so that any order serves before it is known.
        reader.order = ByteOrder::from_flag(reader.octet()?);
        Ok(reader)
    }

    /// The order that numbers are read in.
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Bytes taken so far.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }

    /// Bytes that are left.
    #[must_use]
    pub fn rest(&self) -> usize {
        self.input.len() - self.at
    }

    /// Passes over the padding before a multiple of `size`, which is 1, 2, 4
    /// or 8. What padding holds has no meaning (section 9.3.1).
    #[inline]
    pub fn align(&mut self, size: usize) {
        self.pad(size);
        // Several fragments may be empty and break at the same place.
        while let [first, later @ ..] = self.breaks
            && first.at <= self.at
        {
            self.shift = first.alignment.wrapping_sub(first.at);
            self.breaks = later;
            self.pad(size);
        }
    }

    #[inline]
    fn pad(&mut self, size: usize) {
        // Sizes are powers of two, so that the mask is the remainder.
        let padding = self.at.wrapping_add(self.shift).wrapping_neg() & (size - 1);
        // Clamped: at the end of input padding is not an error, only a value behind it is.
        let padded = (self.at + padding).min(self.input.len());
        // Padding does not reach over a break.
        self.at = match self.breaks.first() {
            Some(next) if next.at >= self.at => padded.min(next.at),
            _ => padded,
        };
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let bytes = self.raw(N)?;
        Ok(bytes.try_into().expect("the number of bytes asked for"))
    }

    numbers! {
        octet: u8, short: i16, ushort: u16, long: i32, ulong: u32,
        long_long: i64, ulong_long: u64, float: f32, double: f64
    }

    /// Takes `length` bytes as they are.
    ///
    /// # Errors
    /// When fewer are left.
    #[inline]
    pub fn raw(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let Some(bytes) = self.input[self.at..].get(..length) else {
            return Err(Error::Truncated {
                at: self.at,
                missing: length - self.rest(),
            });
        };
        self.at += length;
        Ok(bytes)
    }

    /// Takes a boolean.
    ///
    /// # Errors
    /// When the bytes end, or it is neither 0 nor 1.
    #[inline]
    pub fn boolean(&mut self) -> Result<bool, Error> {
        // The place of the value itself; `octet` moves on.
        let at = self.at;
        match self.octet()? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(Error::Boolean { at, value }),
        }
    }

    /// Takes a length or count of things of which each takes at least
    /// `least` bytes.
    ///
    /// # Errors
    /// When the rest cannot hold that many.
    #[inline]
    pub fn length(&mut self, least: usize) -> Result<usize, Error> {
        let length = self.ulong()?;
        let rest = self.rest();
        // A count is refused before memory for its items is taken.
        if length as usize > rest / least.max(1) {
            return Err(Error::Length {
                at: self.at - 4,
                length,
                rest,
            });
        }
        Ok(length as usize)
    }

    /// Takes a `sequence<octet>`.
    ///
    /// # Errors
    /// When its length exceeds the rest.
    #[inline]
    pub fn octets(&mut self) -> Result<&'a [u8], Error> {
        let length = self.length(1)?;
        self.raw(length)
    }

    /// Takes a `string`.
    ///
    /// # Errors
    /// When its length exceeds the rest, or it is not UTF-8 with one NUL at its end.
    #[inline]
    pub fn string(&mut self) -> Result<&'a str, Error> {
        let bytes = self.octets()?;
        let at = self.at - bytes.len() - 4;
        let fault = |fault| Error::String { at, fault };
        // Some old ORBs send an empty string as length 0. Section 9.3.2.7 counts the
        // NUL, so that the least length is 1.
        let (last, text) = bytes.split_last().ok_or(fault(StringFault::NoRoom))?;
        if *last != 0 {
            return Err(fault(StringFault::NoNul));
        }
        // Section 9.3.2.7: NUL terminates a string and cannot be in it.
        if memchr::memchr(0, text).is_some() {
            return Err(fault(StringFault::InnerNul));
        }
        // UTF-8 because both ends announce it in the code set context (section
        // 7.10.2.5).
        std::str::from_utf8(text).map_err(|_| fault(StringFault::Utf8))
    }

    /// To be asked when everything has been read.
    ///
    /// # Errors
    /// When bytes are left.
    pub fn finish(&self) -> Result<(), Error> {
        match self.rest() {
            0 => Ok(()),
            bytes => Err(Error::Trailing { at: self.at, bytes }),
        }
    }
}
