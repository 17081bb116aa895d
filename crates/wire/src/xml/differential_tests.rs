//! Our scanner compared with quick-xml's reader: both take a document as the same
//! elements, attributes and texts, or neither takes it. Where we refuse what
//! quick-xml takes, the reason is one of [`STRICTER`]; there is no document
//! that only we take.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;
use wirelab_wire_own::infoset::scope::Scope;
use wirelab_wire_own::infoset::source::joined_text;
use wirelab_wire_own::infoset::{Error, Source, Step};

use super::scanner::Scanner;

/// What both readers must see alike.
#[derive(Debug, PartialEq)]
enum XmlEvent {
    Open {
        namespace: String,
        local: String,
        /// Names as they are written, values.
        attributes: Vec<(String, String)>,
    },
    /// Texts that follow each other are one.
    Text(String),
    Close,
}

/// Rules of XML 1.0, of Namespaces and of ours that quick-xml leaves to its
/// users, by a part of our message for them.
const STRICTER: &[&str] = &[
    "is not allowed in XML 1.0",
    "document type declarations are refused",
    "the document ends too early",
    "nothing may follow the root element",
    "text before the root element",
    "is not a name",
    // Names of attributes are whatever comes before `=`, to quick-xml.
    "an attribute without a value",
    "bad character reference",
    "XML declaration",
    "]]> in text",
    "< in an attribute",
    "/ in a start tag",
    "white space is missing before an attribute",
    "an attribute appears twice",
    "the prefixes xml and xmlns are reserved",
    "a prefix must stand for a namespace",
    "a namespace's name must be written without references",
    "bad target of a processing instruction",
    "declared as",
    "is not declared",
    ": at most ",
];

fn push_text(seen: &mut Vec<XmlEvent>, text: &str) {
    match seen.last_mut() {
        _ if text.is_empty() => {}
        Some(XmlEvent::Text(before)) => before.push_str(text),
        _ => seen.push(XmlEvent::Text(text.to_owned())),
    }
}

fn ours(document: &[u8]) -> Result<Vec<XmlEvent>, Error> {
    let mut scanner = Scanner::new(document)?;
    let (mut seen, mut depth) = (Vec::new(), 0);
    loop {
        match scanner.step()? {
            Step::Open(element) => {
                depth += 1;
                check_found(&scanner);
                let pairs = scanner.attributes();
                let owned = |pair: Result<(&str, std::borrow::Cow<'_, str>), Error>| {
                    pair.map(|(name, value)| (name.to_owned(), value.into_owned()))
                };
                seen.push(XmlEvent::Open {
                    namespace: element.namespace.to_owned(),
                    local: element.local.to_owned(),
                    attributes: pairs.map(owned).collect::<Result<_, _>>()?,
                });
            }
            Step::Text(text) => push_text(&mut seen, &text.into_str()),
            Step::Close => {
                depth -= 1;
                seen.push(XmlEvent::Close);
            }
        }
        if depth == 0 {
            scanner.finish()?;
            return Ok(seen);
        }
    }
}

/// A lookup of each attribute by its name returns that attribute.
fn check_found(scanner: &Scanner<'_>) {
    for (name, value) in scanner.attributes().flatten() {
        if Scope::prefix_declared_by(name).is_some() {
            continue;
        }
        let (namespace, local) = match name.split_once(':') {
            None => ("", name),
            Some((prefix, local)) => (scanner.namespace(prefix).unwrap(), local),
        };
        assert_eq!(scanner.attribute(namespace, local), Ok(Some(value)));
        assert_eq!(scanner.attribute("urn:other", local), Ok(None));
    }
}

/// The text of every element that a document opens is the same in one piece
/// and piece by piece, or both refuse it at the same place.
fn check_texts(document: &[u8]) {
    for opened in 1.. {
        let Some((mut whole, mut pieces)) = enter(document, opened).zip(enter(document, opened))
        else {
            return;
        };
        // Two implementations of one rule: the fast one for whole texts and the general
        // one.
        let read = whole.text();
        assert_eq!(read, joined_text(&mut pieces));
        if read.is_ok() {
            assert_eq!(whole.offset(), pieces.offset());
        }
    }
}

/// A scanner inside of the element of that number, from 1.
fn enter(document: &[u8], opened: usize) -> Option<Scanner<'_>> {
    let mut scanner = Scanner::new(document).ok()?;
    let mut left = opened;
    while left > 0 {
        match scanner.step().ok()? {
            Step::Open(_) => left -= 1,
            Step::Close if scanner.position.depth == 0 => return None,
            Step::Close | Step::Text(_) => {}
        }
    }
    Some(scanner)
}

/// The events of quick-xml; `Err` where it refuses the document, or where its
/// reader leaves out something that its users have to add.
fn peers(document: &[u8]) -> Result<Vec<XmlEvent>, String> {
    let text = std::str::from_utf8(document).map_err(|error| error.to_string())?;
    // A byte order mark is not part of the document (XML 1.0 section 4.3.3).
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut reader = NsReader::from_str(text);
    // Off by default: `--` within a comment is then not seen (XML 1.0 section 2.5).
    reader.config_mut().check_comments = true;
    let mut seen = Vec::new();
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(tag) => seen.push(read_start(&reader, &tag)?),
            Event::Empty(tag) => seen.extend([read_start(&reader, &tag)?, XmlEvent::Close]),
            Event::End(_) => seen.push(XmlEvent::Close),
            Event::Text(text) => push_text(&mut seen, &text.xml10_content()),
            Event::CData(text) => push_text(&mut seen, &text.xml10_content()),
            Event::GeneralRef(name) => {
                let resolved = match name.resolve_char_ref().map_err(|e| e.to_string())? {
                    Some(character) => character.to_string(),
                    None => resolve_predefined_entity(&name)
                        .ok_or("an entity that is not defined")?
                        .to_owned(),
                };
                push_text(&mut seen, &resolved);
            }
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) | Event::DocType(_) => {}
            Event::Eof => break,
        }
    }
    // White space outside the root.
    let blank = |seen: &XmlEvent| matches!(seen, XmlEvent::Text(text) if text.trim_matches([' ', '\t', '\n', '\r']).is_empty());
    if seen.first().is_some_and(blank) {
        seen.remove(0);
    }
    if seen.last().is_some_and(blank) {
        seen.pop();
    }
    Ok(seen)
}

fn read_start(reader: &NsReader<&[u8]>, tag: &BytesStart<'_>) -> Result<XmlEvent, String> {
    let (namespace, local) = reader.resolver().resolve_element(tag.name());
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let value = attribute
            .normalized_value(quick_xml::XmlVersion::Implicit1_0)
            .map_err(|error| error.to_string())?;
        attributes.push((attribute.key.into_inner().to_owned(), value.into_owned()));
    }
    Ok(XmlEvent::Open {
        namespace: match namespace {
            ResolveResult::Bound(namespace) => namespace.into_inner().to_owned(),
            ResolveResult::Unbound => String::new(),
            ResolveResult::Unknown(prefix) => return Err(format!("{prefix:?} is not declared")),
        },
        local: local.into_inner().to_owned(),
        attributes,
    })
}

/// Compares both readers. Returns whether the document was taken.
fn compare(document: &[u8]) -> bool {
    let text = String::from_utf8_lossy(document);
    match (ours(document), peers(document)) {
        (Ok(ours), peers) => {
            assert_eq!(Ok(ours), peers, "{text}");
            true
        }
        (Err(_), Err(_)) => false,
        (Err(error), Ok(_)) => {
            let reported = error.to_string();
            let listed = STRICTER.iter().any(|rule| reported.contains(rule));
            assert!(
                listed,
                "only quick-xml takes {text:?}; we report {reported}"
            );
            false
        }
    }
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "records", "x:b", "y:c-1", "xml:d", "ü", "item"])
        .prop_map(str::to_owned)
}

fn attribute() -> impl Strategy<Value = String> {
    // Few prefixes and names, declared again and again: scopes that shadow each other are
    // where readers differ.
    let declared = prop::sample::select(vec![
        " xmlns='urn:a'",
        " xmlns:x=\"urn:a\"",
        " xmlns:y = 'urn:b'",
        " xmlns=''",
        "\n\txmlns:x='urn:b'",
        " xmlns:xsi=\"urn:i\"",
    ]);
    let value = prop::sample::select(vec!["", "1", "a&amp;b", "a\tb\r\nc", "&#65;", "'", "ü>"]);
    let other = (name(), value).prop_map(|(name, value)| format!(" {name}=\"{value}\""));
    let typed = prop::sample::select(vec![
        " xsi:type=\"xsd:int\"",
        " xsi:type=\"a&amp;b\"",
        " xsi:type='x'",
    ]);
    prop_oneof![
        2 => declared.prop_map(str::to_owned),
        1 => other,
        2 => typed.prop_map(str::to_owned),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "plain text of some length that goes past one word",
        " ",
        "a\r\nb\rc",
        "&lt;&#x20AC;&apos;",
        "<![CDATA[<a>&amp;]] ]]>",
        "<!-- - -->",
        "<?target data?>",
        "ü😀",
        ">",
        "1",
    ])
    .prop_map(str::to_owned)
}

fn element() -> impl Strategy<Value = String> {
    let written = |name: &str, attributes: &[String], content: &str| {
        format!("<{name}{}>{content}</{name}>", attributes.concat())
    };
    let attributes = || prop::collection::vec(attribute(), 0..3);
    let empty =
        (name(), attributes()).prop_map(|(name, list)| format!("<{name}{} />", list.concat()));
    prop_oneof![text(), empty].prop_recursive(5, 40, 6, move |inner| {
        let content = prop::collection::vec(inner, 0..6);
        // Repeated, so that the same tag comes again, within other scopes too.
        (name(), attributes(), content, 1_usize..3).prop_map(move |(name, list, content, times)| {
            written(&name, &list, &content.concat()).repeat(times)
        })
    })
}

fn document() -> impl Strategy<Value = String> {
    let begin = prop::sample::select(vec![
        "",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
        "<?xml version='1.0'?>\n",
        "\u{FEFF}",
        " <!-- a -->",
    ]);
    let end = prop::sample::select(vec!["", "\n", "<!-- b -->", "<?p?> "]);
    let content = prop::collection::vec(element(), 0..4);
    (
        begin,
        prop::collection::vec(attribute(), 0..2),
        content,
        end,
    )
        .prop_map(|(begin, attributes, content, end)| {
            let declared = "xmlns:x='urn:a' xmlns:y='urn:c' xmlns:xsi='urn:d'";
            let (attributes, content) = (attributes.concat(), content.concat());
            format!("{begin}<root {declared}><r{attributes}>{content}</r></root>{end}")
        })
}

/// One byte or one piece changed, anywhere.
fn mutate() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "<",
        ">",
        "/",
        "&",
        ";",
        "'",
        "\"",
        "=",
        " ",
        "]]>",
        "<!--",
        "-->",
        "<![CDATA[",
        "<?",
        "?>",
        "</",
        "xmlns",
        ":",
        "<!DOCTYPE a>",
        "&#0;",
        "&a;",
        "\u{1}",
        "\r",
        "--",
        "a",
    ]);
    let change = (any::<prop::sample::Index>(), piece, 0_usize..4);
    (document(), prop::collection::vec(change, 1..4)).prop_map(|(document, changes)| {
        let mut bytes = document.into_bytes();
        for (at, piece, removed) in changes {
            let at = at.index(bytes.len() + 1);
            let end = (at + removed).min(bytes.len());
            bytes.splice(at..end, piece.bytes());
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn generated_documents_are_parsed_alike(document in document()) {
        compare(document.as_bytes());
        check_texts(document.as_bytes());
    }

    #[test]
    fn mutated_documents_are_parsed_alike_or_refused(document in mutate()) {
        compare(&document);
        check_texts(&document);
    }
}

/// The generator makes documents that are taken, not only refusals.
#[test]
fn most_generated_documents_are_taken() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut documents =
        std::iter::from_fn(|| document().new_tree(&mut runner).ok()).map(|tree| tree.current());
    let taken = documents
        .by_ref()
        .take(500)
        .filter(|text| compare(text.as_bytes()));
    let taken = taken.count();
    // Without it a generator that makes only errors would pass.
    assert!(taken > 250, "{taken} of 500");
}
