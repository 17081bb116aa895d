//! Options of pcapng blocks (draft-ietf-opsawg-pcapng section 3.5).

use crate::field::Order;

/// Goes over code and value of each; stops at the end and at the first that
/// does not fit.
pub(super) struct Options<'a> {
    order: Order,
    rest: &'a [u8],
}

impl<'a> Options<'a> {
    pub(super) fn new(order: Order, bytes: &'a [u8]) -> Options<'a> {
        Options { order, rest: bytes }
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        const END: u16 = 0;
        let code = self.order.u16(self.rest, 0)?;
        let length = usize::from(self.order.u16(self.rest, 2)?);
        let value = self.rest.get(4..4 + length)?;
        let padded = 4 + length.next_multiple_of(4);
        self.rest = self.rest.get(padded..).unwrap_or(&[]);
        (code != END).then_some((code, value))
    }
}
