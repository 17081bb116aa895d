//! Messages as XML documents, by the mapping of contracts/README.md.

use wirelab_contract::calendar::{BookRequest, EntriesReply, Entry};
use wirelab_contract::transfer::{
    HelloBytesReply, HelloReply, HelloRequest, Record, Refusal, SubmitReply, SubmitRequest,
    UploadRequest,
};
use wirelab_contract::{Contract, Message};
use wirelab_wire::xml::{self, ErrorKind};

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

fn write<M: Message>(message: &M) -> String {
    let bytes = xml::to_vec(message);
    assert_eq!(xml::from_slice::<M>(&bytes).as_ref(), Ok(message));
    let text = String::from_utf8(bytes).unwrap();
    text.strip_prefix(DECLARATION).unwrap().to_owned()
}

fn read<M: Message>(document: &str) -> Result<M, ErrorKind> {
    xml::from_slice(document.as_bytes()).map_err(|error| error.kind)
}

fn batch() -> SubmitRequest {
    let record = |id, quantity, item: &str, remark: &str| Record {
        id,
        quantity,
        item: item.to_owned(),
        remark: remark.to_owned(),
    };
    SubmitRequest {
        batch: "a<b".to_owned(),
        records: vec![record(1, -2, "x", ""), record(i64::MAX, 3, " y ", "\r\n&")],
    }
}

/// The mapping's forms, to the letter.
#[test]
fn writers_follow_the_mapping() {
    let ns = "urn:wirelab:transfer:v1";
    assert_eq!(
        write(&HelloRequest {}),
        format!("<HelloRequest xmlns=\"{ns}\"></HelloRequest>")
    );
    assert_eq!(
        write(&batch()),
        format!(
            "<SubmitRequest xmlns=\"{ns}\"><batch>a&lt;b</batch>\
             <records><id>1</id><quantity>-2</quantity><item>x</item><remark></remark></records>\
             <records><id>9223372036854775807</id><quantity>3</quantity><item> y </item>\
             <remark>&#13;\n&amp;</remark></records></SubmitRequest>"
        )
    );
    assert_eq!(
        write(&HelloBytesReply {
            text: vec![0, 1, 255]
        }),
        format!("<HelloBytesReply xmlns=\"{ns}\"><text>AAH/</text></HelloBytesReply>")
    );
    let booking = BookRequest {
        open: true,
        weight: f64::NEG_INFINITY,
        ..BookRequest::default()
    };
    assert_eq!(
        write(&booking),
        "<BookRequest xmlns=\"urn:wirelab:calendar:v1\"><owner></owner><day>0</day><slot>0</slot>\
         <title></title><open>true</open><weight>-INF</weight><note></note></BookRequest>"
    );
}

#[test]
fn an_application_error_is_an_element() {
    let document = xml::error_element(Contract::Charging, "no such account & <more>");
    let text = String::from_utf8(document.clone()).unwrap();
    assert_eq!(
        text.strip_prefix(DECLARATION).unwrap(),
        "<Error xmlns=\"urn:wirelab:charging:v1\"><error>no such account &amp; &lt;more&gt;\
         </error></Error>"
    );
    let read = xml::read_error(Contract::Charging, &document);
    assert_eq!(read.unwrap(), "no such account & <more>");
    assert!(xml::read_error(Contract::Calendar, &document).is_err());
}

/// Another writer's prefixes, white space, comments, CDATA and references.
#[test]
fn readers_take_any_spelling_of_the_same_document() {
    let document = r#"<?xml version='1.0' encoding='utf-8' standalone='yes'?>
<!-- a batch --><?pi data?>
<w:SubmitRequest xmlns:w="urn:wirelab:transfer:v1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xsi:schemaLocation="a b">
  <w:batch>a<![CDATA[<]]>b</w:batch>
  <other xmlns="urn:other"><deep a="1"/>text</other>
  <w:records><w:remark/><w:id> 1 </w:id><!-- - --><w:quantity>-2
    </w:quantity><w:item>&#x78;</w:item></w:records>
  <n:records xmlns:n="urn:wirelab:transfer:v1"><n:id>+9223372036854775807</n:id>
    <n:quantity>003</n:quantity><n:item> y </n:item><n:remark>&#13;&#10;&#38;</n:remark><n:unknown/>
  </n:records>
</w:SubmitRequest>
<!-- the end -->
"#;
    assert_eq!(read::<SubmitRequest>(document), Ok(batch()));
    let with_byte_order_mark = [b"\xEF\xBB\xBF", document.as_bytes()].concat();
    assert_eq!(
        xml::from_slice::<SubmitRequest>(&with_byte_order_mark).unwrap(),
        batch()
    );
}

/// Strings keep every character; line ends become line feeds, as XML 1.0
/// section 2.11 has it, unless they are references.
#[test]
fn strings_keep_every_character() {
    let hello = |text: &str| HelloReply {
        text: text.to_owned(),
    };
    for text in [
        "",
        " ",
        "\n\t ",
        " a ",
        "\r",
        "]]>",
        "a\r\nb",
        "😀\u{FFFD}\u{A0}",
        "&amp;",
    ] {
        write(&hello(text));
    }
    let document = "<HelloReply xmlns='urn:wirelab:transfer:v1'><text>a\r\nb\rc&#13;\n<![CDATA[\r\n \
                    &lt;]]></text></HelloReply>";
    assert_eq!(
        read::<HelloReply>(document),
        Ok(hello("a\nb\nc\r\n\n &lt;"))
    );
}

#[test]
fn absent_and_nil_fields_are_their_zeros() {
    let document = "<SubmitReply xmlns='urn:wirelab:transfer:v1' \
        xmlns:i='http://www.w3.org/2001/XMLSchema-instance'>\
        <accepted>3</accepted><refused i:nil='true'/><batch i:nil='1'></batch></SubmitReply>";
    let reply = SubmitReply {
        accepted: 3,
        ..SubmitReply::default()
    };
    assert_eq!(read(document), Ok(reply));
    let two = SubmitReply {
        refused: vec![Refusal::default(), Refusal::default()],
        ..SubmitReply::default()
    };
    let document = "<SubmitReply xmlns='urn:wirelab:transfer:v1'><refused/><refused></refused>\
                    </SubmitReply>";
    assert_eq!(read(document), Ok(two));
}

#[test]
fn base64_may_hold_white_space_and_nothing_else() {
    let document = |data: &str| {
        format!(
            "<UploadRequest xmlns='urn:wirelab:transfer:v1'><data>{data}</data></UploadRequest>"
        )
    };
    let read = |data: &str| read::<UploadRequest>(&document(data)).map(|request| request.data);
    assert_eq!(read("YWJj\n  ZGVm\r\n"), Ok(b"abcdef".to_vec()));
    assert_eq!(read(""), Ok(vec![]));
    // Cut off, padding within, the alphabet for URLs, and markup within the text.
    for bad in ["YWJ", "YW=j", "YWJj-", "Y<!-- -->WJ"] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[test]
fn namespaces_are_distinguished() {
    for (document, part) in [
        ("<HelloReply/>", "{urn:wirelab:transfer:v1}HelloReply"),
        (
            "<HelloReply xmlns='urn:wirelab:transfer:v2'/>",
            "v2}HelloReply",
        ),
        (
            "<HelloRequest xmlns='urn:wirelab:transfer:v1'/>",
            "v1}HelloRequest",
        ),
        (
            "<a:HelloReply xmlns:a='urn:wirelab:transfer:v1'><text>x</text></a:HelloReply>",
            "{}text",
        ),
        (
            "<HelloReply xmlns='urn:wirelab:transfer:v1'><text xmlns=''>x</text></HelloReply>",
            "{}text",
        ),
    ] {
        let refused = read::<HelloReply>(document).unwrap_err();
        assert!(matches!(refused, ErrorKind::Element { .. }), "{refused}");
        assert!(refused.to_string().contains(part), "{refused}");
    }
    // Elements of foreign namespaces are extensions: passed over.
    let elsewhere = "<HelloReply xmlns='urn:wirelab:transfer:v1'><x:more xmlns:x='urn:x'>1</x:more>\
                     <text>y</text></HelloReply>";
    assert_eq!(read::<HelloReply>(elsewhere).unwrap().text, "y");
}

/// A document, and whether its error is the right one.
type Case = (String, fn(&ErrorKind) -> bool);

/// What no reader may take for a message: each with the kind of its error.
#[test]
fn documents_that_are_none_are_refused() {
    let in_text = |text: &str| {
        format!("<HelloReply xmlns='urn:wirelab:transfer:v1'><text>{text}</text></HelloReply>")
    };
    let cases: &[Case] = &[
        (String::new(), |k| matches!(k, ErrorKind::Truncated)),
        (" ".into(), |k| matches!(k, ErrorKind::Truncated)),
        ("text".into(), |k| matches!(k, ErrorKind::Syntax(_))),
        ("<!DOCTYPE a><a/>".into(), |k| {
            matches!(k, ErrorKind::DocumentType)
        }),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>".into(), |k| {
            matches!(k, ErrorKind::DocumentType)
        }),
        (in_text("&b;"), |k| matches!(k, ErrorKind::Entity(_))),
        // A reference to a character that XML 1.0 excludes does not avoid section 2.2.
        (in_text("&#0;"), |k| matches!(k, ErrorKind::Character(0))),
        (in_text("&#xFFFE;"), |k| {
            matches!(k, ErrorKind::Character(0xFFFE))
        }),
        (in_text("&#xD800;"), |k| {
            matches!(k, ErrorKind::Character(0xD800))
        }),
        (in_text("&#;"), |k| matches!(k, ErrorKind::Syntax(_))),
        (in_text("&#x;"), |k| matches!(k, ErrorKind::Syntax(_))),
        (in_text("&#+65;"), |k| matches!(k, ErrorKind::Syntax(_))),
        (in_text("&#99999999999;"), |k| {
            matches!(k, ErrorKind::Syntax(_))
        }),
        (in_text("a & b"), |k| matches!(k, ErrorKind::Syntax(_))),
        (in_text("]]>"), |k| matches!(k, ErrorKind::Syntax(_))),
        (in_text("<b/>"), |k| matches!(k, ErrorKind::Element { .. })),
        (in_text("\u{1}"), |k| matches!(k, ErrorKind::Character(1))),
        (in_text("<!-- a -- b -->"), |k| {
            matches!(k, ErrorKind::Syntax(_))
        }),
        (in_text("<?xml version='1.0'?>"), |k| {
            matches!(k, ErrorKind::Syntax(_))
        }),
        (in_text("</b>"), |k| matches!(k, ErrorKind::Syntax(_))),
        (in_text("</text><text>"), |k| {
            matches!(k, ErrorKind::Message(_))
        }),
        (in_text("</text>x<text>"), |k| {
            matches!(k, ErrorKind::UnexpectedText)
        }),
        (in_text("x") + "<a/>", |k| matches!(k, ErrorKind::Trailing)),
        (in_text("x") + "x", |k| matches!(k, ErrorKind::Trailing)),
        (in_text("x") + "&lt;", |k| matches!(k, ErrorKind::Trailing)),
        (
            "<?xml version='1.0' encoding='iso-8859-1'?>".to_owned() + &in_text("x"),
            |k| matches!(k, ErrorKind::Encoding(_)),
        ),
        ("<?xml version='1.1'?>".to_owned() + &in_text("x"), |k| {
            matches!(k, ErrorKind::Syntax(_))
        }),
        ("<?xml encoding='UTF-8'?>".to_owned() + &in_text("x"), |k| {
            matches!(k, ErrorKind::Syntax(_))
        }),
        (" <?xml version='1.0'?>".to_owned() + &in_text("x"), |k| {
            matches!(k, ErrorKind::Syntax(_))
        }),
        ("<a:b/>".into(), |k| {
            matches!(k, ErrorKind::UndeclaredPrefix(_))
        }),
        ("<a b:c=''/>".into(), |k| {
            matches!(k, ErrorKind::UndeclaredPrefix(_))
        }),
        ("<a b='' b=''/>".into(), |k| {
            matches!(k, ErrorKind::Syntax(_))
        }),
        ("<a xmlns:x='u' xmlns:y='u' x:b='' y:b=''/>".into(), |k| {
            matches!(k, ErrorKind::Syntax(_))
        }),
        ("<a b=''c=''/>".into(), |k| {
            matches!(k, ErrorKind::Syntax(_))
        }),
        ("<a b/>".into(), |k| matches!(k, ErrorKind::Syntax(_))),
        ("<a b='<'/>".into(), |k| matches!(k, ErrorKind::Syntax(_))),
        ("<a b='&c;'/>".into(), |k| matches!(k, ErrorKind::Entity(_))),
        ("<a xmlns:xml='urn:x'/>".into(), |k| {
            matches!(k, ErrorKind::Syntax(_))
        }),
        ("<a xmlns='urn:&amp;'/>".into(), |k| {
            matches!(k, ErrorKind::Syntax(_))
        }),
        ("<a xmlns:b=''/>".into(), |k| {
            matches!(k, ErrorKind::Syntax(_))
        }),
        ("<1/>".into(), |k| matches!(k, ErrorKind::Syntax(_))),
        ("<a:b:c/>".into(), |k| matches!(k, ErrorKind::Syntax(_))),
        ("< a/>".into(), |k| matches!(k, ErrorKind::Syntax(_))),
        ("<![CDATA[a]]>".into(), |k| {
            matches!(k, ErrorKind::Syntax(_))
        }),
    ];
    for (document, expected) in cases {
        let refused = read::<HelloReply>(document).unwrap_err();
        assert!(expected(&refused), "{document}: {refused:?}");
    }
    let utf16 = "\u{FEFF}<a/>".encode_utf16().flat_map(u16::to_be_bytes);
    let refused = xml::from_slice::<HelloReply>(&utf16.collect::<Vec<_>>()).unwrap_err();
    assert!(matches!(refused.kind, ErrorKind::Encoding(_)));
}

/// The place of an error is the byte at fault.
#[test]
fn errors_report_their_offset() {
    for (text, at) in [
        (
            "<HelloReply xmlns='urn:wirelab:transfer:v1'><text>\u{1}",
            50,
        ),
        (
            "<HelloReply xmlns='urn:wirelab:transfer:v1'><text>ab&c;</text>",
            52,
        ),
        (
            "<HelloReply xmlns='urn:wirelab:transfer:v1'><text><b/></text>",
            50,
        ),
        (
            "<HelloReply xmlns='urn:wirelab:transfer:v1'><text/><text/>",
            58,
        ),
        ("<HelloReply xmlns='urn:wirelab:transfer:v1' a='&b;'/>", 44),
    ] {
        let refused = xml::from_slice::<HelloReply>(text.as_bytes()).unwrap_err();
        assert_eq!(refused.offset, at, "{text}: {refused}");
    }
}

#[test]
fn bombs_are_refused() {
    let limit = |content: &str| {
        let document = format!("<HelloReply xmlns='urn:wirelab:transfer:v1'>{content}");
        match read::<HelloReply>(&document) {
            Err(ErrorKind::Limit { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    };
    let deep = |depth: usize| {
        let (open, close) = ("<a>".repeat(depth), "</a>".repeat(depth));
        format!("<HelloReply xmlns='urn:wirelab:transfer:v1'>{open}{close}</HelloReply>")
    };
    assert!(read::<HelloReply>(&deep(63)).is_ok());
    assert_eq!(limit(&"<a>".repeat(64)), "elements within elements");
    let value = "x".repeat(4097);
    assert_eq!(limit(&format!("<a b='{value}'/>")), "bytes of an attribute");
    let name = "x".repeat(257);
    assert_eq!(limit(&format!("<{name}/>")), "bytes of a name");
    assert_eq!(limit(&format!("<a {name}=''/>")), "bytes of a name");
    let attributes: String = (0..65).map(|n| format!(" a{n}=''")).collect();
    assert_eq!(limit(&format!("<a{attributes}/>")), "attributes");
    let prefixes: String = (0..50).map(|n| format!(" xmlns:a{n}='u'")).collect();
    let nested = format!("<a{prefixes}>").repeat(3);
    assert_eq!(limit(&nested), "namespaces in scope");
}

/// Cut anywhere, a document is an error; the report is deterministic.
#[test]
fn every_truncation_is_reported() {
    let entries = EntriesReply {
        entries: vec![
            Entry::default(),
            Entry {
                title: "a&b\r😀".to_owned(),
                ..Entry::default()
            },
        ],
    };
    let document = xml::to_vec(&entries);
    for cut in 0..document.len() {
        let refused = xml::from_slice::<EntriesReply>(&document[..cut]).unwrap_err();
        assert!(refused.offset <= cut, "cut at {cut}: {refused}");
    }
}
