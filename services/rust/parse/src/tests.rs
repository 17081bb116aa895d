//! All parsers see the same document, and hostile ones are errors.

use std::time::Duration;

use crate::formats::{self, Format};
use crate::parsers::{Document, Parser};
use crate::timing::Plan;

const MIXED: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- comment --><?target data?>
<a:root xmlns:a="urn:a" xmlns="urn:b" plain="1&amp;2" a:own="é">
  <child>text <![CDATA[<raw>]]> more &lt;&#x20AC;&gt;</child><child/>日本😀
  <inner xmlns=""><leaf a:b="c">  </leaf></inner>
</a:root>
"#;

fn document(text: &str) -> Document {
    Document {
        name: "reserve".to_owned(),
        bytes: text.as_bytes().to_vec(),
    }
}

#[test]
fn parsers_see_the_same_elements_attributes_and_texts() {
    let mixed = document(MIXED);
    let events = Parser::QuickXml.fingerprint(&mixed).unwrap();
    assert_eq!(events, Parser::Roxmltree.fingerprint(&mixed).unwrap());
}

#[test]
fn hostile_and_broken_documents_are_errors() {
    for text in [
        "",
        "<a>",
        "<a><b></a></b>",
        "<a/><b/>",
        "<a>&unknown;</a>",
        "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/hostname'>]><a>&e;</a>",
    ] {
        for parser in [Parser::QuickXml, Parser::Roxmltree] {
            assert!(parser.parse(&document(text)).is_err(), "{text:?}");
        }
    }
}

#[test]
fn formats_decode_the_fields_that_were_encoded() {
    for format in [Format::Json, Format::Protobuf, Format::Cbor, Format::Cdr] {
        let bytes = formats::encode(format, "reserve", r#"{"id":2,"am":520}"#).unwrap();
        let one = Document {
            name: "reserve".to_owned(),
            bytes,
        };
        assert_eq!(Parser::Message(format).parse(&one).unwrap(), 522);
    }
}

#[test]
fn calm_ends_a_warm_up_of_enough_parses_and_time() {
    let plan = Plan {
        warmup: Duration::from_secs(2),
        window: Duration::from_millis(1),
        blocks: 1,
    };
    assert!(plan.is_warm(20_000, Duration::from_secs(1)));
    assert!(!plan.is_warm(19_999, Duration::from_secs(2)));
    assert!(!plan.is_warm(20_000, Duration::from_millis(999)));
}
