//! Service contexts (CORBA 3.3 part 2, section 7.7) and the one that matters
//! here: the code sets of a connection (section 7.10.2.6).

use crate::cdr::{ByteOrder, Error, Reader, Writer};

/// OSF number of UTF-8.
pub const CODE_SET_UTF8: u32 = 0x0501_0001;
/// OSF number of UTF-16.
pub const CODE_SET_UTF16: u32 = 0x0001_0109;

/// Number of the service context `CodeSets`.
const CODE_SETS: u32 = 1;

/// Bytes of a context without data.
const CONTEXT_BYTES_MIN: usize = 8;

/// The code sets that strings are transmitted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeSets {
    /// Of `char` and `string`.
    pub narrow: u32,
    /// Of `wchar` and `wstring`.
    pub wide: u32,
}

impl Default for CodeSets {
    fn default() -> Self {
        CodeSets {
            narrow: CODE_SET_UTF8,
            wide: CODE_SET_UTF16,
        }
    }
}

impl CodeSets {
    fn parse(data: &[u8]) -> Result<CodeSets, Error> {
        let mut reader = Reader::encapsulation(data)?;
        Ok(CodeSets {
            narrow: reader.ulong()?,
            wide: reader.ulong()?,
        })
    }

    fn encapsulate(self, order: ByteOrder) -> Vec<u8> {
        let mut data = Vec::with_capacity(12);
        let mut writer = Writer::new(order, &mut data, 0);
        writer.octet(order.flag());
        writer.ulong(self.narrow);
        writer.ulong(self.wide);
        data
    }
}

/// Appends a list of contexts: `code_sets`, or none.
pub(super) fn write(writer: &mut Writer<'_>, code_sets: Option<CodeSets>) -> Result<(), Error> {
    writer.ulong(code_sets.is_some().into());
    if let Some(code_sets) = code_sets {
        writer.ulong(CODE_SETS);
        writer.octets(&code_sets.encapsulate(writer.order()))?;
    }
    Ok(())
}

/// Takes a list of contexts and returns the code sets among them.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<Option<CodeSets>, Error> {
    let mut code_sets = None;
    for _ in 0..reader.length(CONTEXT_BYTES_MIN)? {
        let number = reader.ulong()?;
        let data = reader.octets()?;
        // Unknown contexts are ignored, as section 7.7 allows.
        if number == CODE_SETS {
            code_sets = Some(CodeSets::parse(data)?);
        }
    }
    Ok(code_sets)
}
