//! Every parser by its name in `wirelab parse`.

use std::hint::black_box;

use anyhow::Result;

use crate::content::{Checksum, Content, Fingerprint};
use crate::formats::{self, Fields, Format};
use crate::xml;

/// A document in memory.
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// One parser.
#[derive(Clone, Copy)]
pub(crate) enum Parser {
    QuickXml,
    Roxmltree,
    Message(Format),
}

impl Parser {
    /// The parser of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "quick-xml" => Self::QuickXml,
            "roxmltree" => Self::Roxmltree,
            "json" => Self::Message(Format::Json),
            "protobuf" => Self::Message(Format::Protobuf),
            "cbor" => Self::Message(Format::Cbor),
            "cdr" => Self::Message(Format::Cdr),
            _ => return None,
        })
    }

    /// Its library with the version.
    pub(crate) fn library(self) -> &'static str {
        match self {
            Self::QuickXml => concat!("quick-xml ", env!("VERSION_QUICK_XML")),
            Self::Roxmltree => concat!("roxmltree ", env!("VERSION_ROXMLTREE")),
            Self::Message(Format::Json) => concat!("serde_json ", env!("VERSION_SERDE_JSON")),
            Self::Message(Format::Protobuf) => concat!("prost ", env!("VERSION_PROST")),
            Self::Message(Format::Cbor) => concat!("ciborium ", env!("VERSION_CIBORIUM")),
            Self::Message(Format::Cdr) => "lab's own",
        }
    }

    /// Reads a document and returns a number that depends on every byte of texts and
    /// attribute values.
    pub(crate) fn parse(self, document: &Document) -> Result<u64> {
        let mut sum = Checksum::default();
        self.read(black_box(document), &mut sum)?;
        Ok(sum.0)
    }

    /// Of the document's content: equal for all parsers of the same document.
    pub(crate) fn fingerprint(self, document: &Document) -> Result<String> {
        let mut seen = Fingerprint::default();
        self.read(document, &mut seen)?;
        Ok(seen.hex())
    }

    fn read<C: Content + Fields>(self, document: &Document, into: &mut C) -> Result<()> {
        match self {
            Self::QuickXml => xml::quick_xml(&document.bytes, into),
            Self::Roxmltree => xml::roxmltree(&document.bytes, into),
            Self::Message(format) => formats::decode(format, &document.name, &document.bytes, into),
        }
    }
}
