//! Parsers of XML.

use anyhow::{Context as _, Result, bail, ensure};
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;

use crate::content::Content;

const DOCTYPE: &str = "the document has a document type declaration";

/// quick-xml: events with namespaces.
pub(crate) fn quick_xml<C: Content>(document: &[u8], into: &mut C) -> Result<()> {
    let mut reader = NsReader::from_str(std::str::from_utf8(document)?);
    let (mut open, mut roots) = (0_usize, 0_usize);
    loop {
        match reader.read_event()? {
            Event::Start(tag) => {
                roots += usize::from(open == 0);
                open += 1;
                element(&reader, &tag, into)?;
            }
            Event::Empty(tag) => {
                roots += usize::from(open == 0);
                element(&reader, &tag, into)?;
                into.end();
            }
            Event::End(_) => {
                open -= 1;
                into.end();
            }
            Event::Text(text) if open > 0 => into.text(&text.xml10_content()),
            Event::CData(text) => into.text(&text.xml10_content()),
            Event::GeneralRef(name) => match name.resolve_char_ref()? {
                Some(character) => into.text(character.encode_utf8(&mut [0; 4])),
                None => into.text(resolve_xml_entity(&name).context("an unknown entity")?),
            },
            Event::DocType(_) => bail!(DOCTYPE),
            Event::Eof => break,
            _ => {}
        }
    }
    ensure!(
        open == 0 && roots == 1,
        "{roots} root elements, {open} of them open"
    );
    Ok(())
}

fn element<C: Content>(reader: &NsReader<&[u8]>, tag: &BytesStart<'_>, into: &mut C) -> Result<()> {
    let (namespace, local) = reader.resolver().resolve_element(tag.name());
    into.start(read_namespace(&namespace)?, local.as_ref());
    for attribute in tag.attributes() {
        let attribute = attribute?;
        if attribute.key.as_namespace_binding().is_some() {
            continue;
        }
        let (namespace, local) = reader.resolver().resolve_attribute(attribute.key);
        let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
        into.attribute(read_namespace(&namespace)?, local.as_ref(), &value);
    }
    Ok(())
}

fn read_namespace<'n>(namespace: &'n ResolveResult<'_>) -> Result<&'n str> {
    match namespace {
        ResolveResult::Bound(namespace) => Ok(namespace.0),
        ResolveResult::Unbound => Ok(""),
        ResolveResult::Unknown(_) => bail!("a prefix is not declared"),
    }
}

/// roxmltree: a read-only tree, walked through.
pub(crate) fn roxmltree<C: Content>(document: &[u8], into: &mut C) -> Result<()> {
    let tree = roxmltree::Document::parse(std::str::from_utf8(document)?)?;
    let root = tree.root_element();
    let mut node = root;
    loop {
        enter(node, into);
        if let Some(child) = node.first_child() {
            node = child;
            continue;
        }
        // Up to the next node that has not been entered.
        loop {
            if node.is_element() {
                into.end();
            }
            if node == root {
                return Ok(());
            }
            if let Some(next) = node.next_sibling() {
                node = next;
                break;
            }
            node = node.parent().expect("below the root element");
        }
    }
}

fn enter<C: Content>(node: roxmltree::Node<'_, '_>, into: &mut C) {
    if node.is_element() {
        let name = node.tag_name();
        into.start(name.namespace().unwrap_or_default(), name.name());
        for attribute in node.attributes() {
            into.attribute(
                attribute.namespace().unwrap_or_default(),
                attribute.name(),
                attribute.value(),
            );
        }
    } else if let Some(text) = node.text().filter(|_| node.is_text()) {
        into.text(text);
    }
}
