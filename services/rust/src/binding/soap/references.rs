//! References of SOAP 1.1 section 5.2.1: an element with `href="#id"` stands for the
//! element with that `id` behind the body's first child. Apache Axis 1.4 writes them.
//!
//! quick-xml knows no such thing, and most documents have none. One that has is copied
//! with what its references stand for in their places.

use std::collections::HashMap;
use std::ops::Range;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{NsReader, Reader, Writer, XmlVersion};

use super::header_blocks::open_body;
use crate::codec::xml::{self, XmlError};
use wirelab_wire_own::soap::Version;

/// References within references.
// Axis nests one level per level of the message; a cycle is found after this many steps.
const DEPTH_MAX: usize = 64;

/// Bytes of a copy, for each byte of the document: room for a text that many records
/// share, none for a bomb.
const GROWTH_MAX: usize = 16;

/// Whether a document may hold a reference.
pub(super) fn may_occur(document: &str) -> bool {
    memchr::memmem::find(document.as_bytes(), b"href").is_some()
}

/// The body's first child as a document with its references replaced, within a root
/// that stands for the envelope.
///
/// # Errors
/// When a reference leads nowhere, out of the document or back to itself, or the copy
/// grows beyond measure.
pub(super) fn inlined(document: &str) -> Result<String, XmlError> {
    let mut reader = xml::reader(document);
    xml::next_child(&mut reader)?;
    open_body(&mut reader, Version::V11)?;
    // The first child is the call; independent elements follow it (SOAP 1.1 section 5.1).
    let children = children(document, &mut reader)?;
    let Some((first, others)) = children.split_first() else {
        return Err(XmlError::Structure("a body without an element"));
    };
    let mut copy = Copy {
        document,
        targets: targets(document, others)?,
        out: Writer::new(Vec::new()),
        // References can be nested to double at every level, as entities in the billion
        // laughs attack.
        bytes_max: document.len().saturating_mul(GROWTH_MAX),
    };
    let root = BytesStart::new("Envelope");
    copy.write(Event::Start(root.borrow()))?;
    copy.events(first.clone(), 0)?;
    copy.write(Event::End(root.to_end()))?;
    let bytes = copy.out.into_inner();
    Ok(String::from_utf8(bytes).expect("copied from text, piece by piece"))
}

/// Where the children of the open element lie in the document.
fn children(document: &str, reader: &mut NsReader<&[u8]>) -> Result<Vec<Range<usize>>, XmlError> {
    let mut found = Vec::new();
    while let Some(child) = xml::next_child(reader)? {
        // Behind the start tag; of an empty element that is behind the whole.
        let content = position(reader);
        // The last `<` before the content: XML allows none within attribute values (XML 1.0, 2.4).
        let tag_begin = document[..content].rfind('<').unwrap_or_default();
        xml::skip(reader, &child)?;
        found.push(tag_begin..position(reader));
    }
    Ok(found)
}

fn position(reader: &NsReader<&[u8]>) -> usize {
    usize::try_from(reader.buffer_position()).expect("a document in memory")
}

/// Places of elements by their `id`.
type Targets = HashMap<String, Range<usize>>;

fn targets(document: &str, children: &[Range<usize>]) -> Result<Targets, XmlError> {
    let mut targets = Targets::new();
    // Only independent elements: an id deeper down is not a target of section 5.4.1.
    for range in children {
        let mut reader = Reader::from_str(&document[range.clone()]);
        let (Event::Start(tag) | Event::Empty(tag)) = reader.read_event()? else {
            continue;
        };
        if let Some(id) = attribute(&tag, "id")?
            && targets.insert(id, range.clone()).is_some()
        {
            return Err(XmlError::Structure("an id appears twice"));
        }
    }
    Ok(targets)
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Result<Option<String>, XmlError> {
    let found = tag
        .try_get_attribute(name)
        .map_err(quick_xml::Error::from)?;
    let value = found.map(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0));
    Ok(value.transpose()?.map(std::borrow::Cow::into_owned))
}

/// A copy that is being made.
struct Copy<'de> {
    document: &'de str,
    targets: Targets,
    out: Writer<Vec<u8>>,
    bytes_max: usize,
}

impl<'de> Copy<'de> {
    /// Copies a part of the document.
    fn events(&mut self, range: Range<usize>, depth: usize) -> Result<(), XmlError> {
        let mut reader = Reader::from_str(&self.document[range]);
        // `<a href="#1"/>` then reads like `<a href="#1"></a>`, and one case suffices.
        reader.config_mut().expand_empty_elements = true;
        loop {
            let event = reader.read_event()?;
            match &event {
                Event::Eof => return Ok(()),
                Event::Start(tag) => match attribute(tag, "href")? {
                    Some(href) => {
                        let end = reader.read_event()?;
                        if !matches!(end, Event::End(_)) {
                            return Err(XmlError::Structure("an href next to content"));
                        }
                        self.target(tag, &href, depth)?;
                    }
                    None => self.write(event)?,
                },
                // Text and comments as they are: no escaping is undone, so none has to be
                // redone.
                _ => self.write(event)?,
            }
        }
    }

    /// Copies the content of what `href` names into an element called as `tag` is.
    fn target(&mut self, tag: &BytesStart<'de>, href: &str, depth: usize) -> Result<(), XmlError> {
        let id = href.strip_prefix('#');
        let id = id.ok_or(XmlError::Structure("a reference leads out of the document"))?;
        let range = self.targets.get(id).cloned();
        let range = range.ok_or(XmlError::Structure("a reference leads nowhere"))?;
        // Also the only guard against a cycle: a visited set would refuse a target that two
        // elements share.
        if depth == DEPTH_MAX {
            return Err(XmlError::Structure(
                "references lead too deep, or back to themselves",
            ));
        }
        let element = &self.document[range.clone()];
        let mut reader = Reader::from_str(element);
        reader.config_mut().expand_empty_elements = true;
        let Event::Start(opened) = reader.read_event()? else {
            return Err(XmlError::Structure("a reference leads nowhere"));
        };
        if let Some(further) = attribute(&opened, "href")? {
            return self.target(tag, &further, depth + 1);
        }
        let content = reader.read_to_end(opened.name())?;
        let offset = |at: u64| range.start + usize::try_from(at).expect("a document in memory");
        // The name of the place, not of the target: `multiRef` is not a field of the message.
        let name = BytesStart::new(tag.name().into_inner());
        self.write(Event::Start(name.borrow()))?;
        self.events(offset(content.start)..offset(content.end), depth + 1)?;
        self.write(Event::End(name.to_end()))
    }

    fn write(&mut self, event: Event<'_>) -> Result<(), XmlError> {
        self.out
            .write_event(event)
            .map_err(quick_xml::Error::from)?;
        // Checked after each event, so that a bomb is stopped within one event of its limit.
        if self.out.get_mut().len() > self.bytes_max {
            return Err(XmlError::Structure(
                "references make the document grow beyond measure",
            ));
        }
        Ok(())
    }
}
