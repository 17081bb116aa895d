//! Envelopes of SOAP 1.1, document/literal, bare (W3C note SOAP 1.1).

use quick_xml::NsReader;
use quick_xml::escape::escape;
use quick_xml::events::Event;
use quick_xml::name::{Namespace, ResolveResult};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::contract::{NAMESPACE, REQUEST_ELEMENT};
use crate::exchange::Failure;
use crate::xml::{self, DECLARATION, Input};

const ENVELOPE: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const START: &str = r#"<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>"#;
const END: &str = "</soapenv:Body></soapenv:Envelope>";

/// Reads the request in an envelope.
///
/// # Errors
/// The fault to answer with.
pub fn read_request<M: DeserializeOwned>(document: &[u8]) -> Result<M, Failure> {
    let text = xml::check_text(document)?;
    let mut reader = xml::reader(text);
    open_body(&mut reader)?;
    // serde has to see the start tag of the child again.
    let before = reader.clone();
    xml::next_child(&mut reader)?
        .ok_or_else(|| "a body without an element".to_owned())?
        .prove(NAMESPACE, REQUEST_ELEMENT)?;
    let (message, input) = xml::read_element(before)?;
    // The usual envelope ends at once; only others are read a second time.
    if !ends_at_once(&input)? {
        prove_end(text)?;
    }
    Ok(message)
}

/// Writes the envelope of a reply.
///
/// # Errors
/// A value that has no form there.
pub fn write_reply<M: Serialize>(message: &M) -> Result<Vec<u8>, String> {
    let mut out = [DECLARATION, START].concat();
    xml::write_element(message, &mut out)?;
    out.push_str(END);
    Ok(out.into_bytes())
}

/// The envelope of a fault.
pub fn write_fault(code: &str, text: &str) -> Vec<u8> {
    format!(
        "{DECLARATION}{START}<soapenv:Fault><faultcode>soapenv:{code}</faultcode>\
         <faultstring>{}</faultstring></soapenv:Fault>{END}",
        escape(text)
    )
    .into_bytes()
}

/// Opens the body, after the header, of which no block is understood.
fn open_body(reader: &mut NsReader<&[u8]>) -> Result<(), Failure> {
    let root = xml::next_child(reader)?.ok_or_else(|| "no envelope".to_owned())?;
    if root.name != "Envelope" {
        return Err(format!("expected an Envelope, found {}", root.name).into());
    }
    if root.namespace != ENVELOPE {
        let text = "this service speaks SOAP 1.1".to_owned();
        return Err(Failure::Fault("VersionMismatch", text));
    }
    let missing = || "the envelope has no Body where one must be".to_owned();
    let mut child = xml::next_child(reader)?.ok_or_else(missing)?;
    if child.is(ENVELOPE, "Header") {
        while let Some(block) = xml::next_child(reader)? {
            if must_understand(reader, &block)? {
                let text = format!("header block {} is not understood", block.name);
                return Err(Failure::Fault("MustUnderstand", text));
            }
            xml::skip(reader, &block)?;
        }
        child = xml::next_child(reader)?.ok_or_else(missing)?;
    }
    Ok(child.prove(ENVELOPE, "Body")?)
}

fn must_understand(reader: &NsReader<&[u8]>, block: &xml::Element<'_>) -> Result<bool, String> {
    for attribute in block.tag.attributes() {
        let attribute = attribute.map_err(xml::text)?;
        let (namespace, name) = reader.resolver().resolve_attribute(attribute.key);
        if namespace == ResolveResult::Bound(Namespace(ENVELOPE))
            && name.into_inner() == "mustUnderstand"
        {
            return Ok(matches!(attribute.value.trim(), "1" | "true"));
        }
    }
    Ok(false)
}

/// Whether the body and the envelope end right behind the element that was read, and
/// with them the document. The deserializer has read one event more: where that was the
/// end of the body, the next must be that of the envelope, whose name quick-xml checks.
fn ends_at_once(input: &Input<'_>) -> Result<bool, String> {
    let mut rest = input.get_ref().get_ref().clone();
    let closes_envelope = match rest.read_event().map_err(xml::text)? {
        Event::End(end) => end.local_name().into_inner() == "Envelope",
        _ => false,
    };
    Ok(closes_envelope && matches!(rest.read_event().map_err(xml::text)?, Event::Eof))
}

/// Proves that nothing but white space, comments and processing instructions follow
/// the body's child, read from the begin of the document.
fn prove_end(document: &str) -> Result<(), Failure> {
    let mut reader = xml::reader(document);
    open_body(&mut reader)?;
    if let Some(child) = xml::next_child(&mut reader)? {
        xml::skip(&mut reader, &child)?;
    }
    // The ends of the body and of the envelope.
    for _ in 0..2 {
        if xml::next_child(&mut reader)?.is_some() {
            return Err("nothing may follow the body's element".to_owned().into());
        }
    }
    Ok(xml::finish(&mut reader)?)
}
