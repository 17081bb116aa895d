//! Documents as cached tokens (docs/reference/token-xml.md).

use proptest::prelude::*;
use wirelab_contract::calendar::{BookReply, BookRequest};
use wirelab_contract::transfer::{HelloReply, Record, SubmitRequest};
use wirelab_contract::workload::book;
use wirelab_contract::{Call, Message, Operation, Reply};
use wirelab_wire::soap::{self, EnvelopeFormat, Fault, Response};
use wirelab_wire::token_xml::{self, Decoder, Document, Encoder, ErrorKind, TokenCache};

/// Link, IP and TCP headers that the study counts, bytes a packet.
const HEADERS: usize = 40;

/// A connection's two ends in one direction.
struct Ends {
    encoder: Encoder,
    decoder: Decoder,
}

impl Ends {
    fn new(cache: TokenCache) -> Self {
        Ends {
            encoder: Encoder::new(cache),
            decoder: Decoder::new(cache),
        }
    }

    fn carry(&mut self, document: &Document) -> Vec<u8> {
        let mut tokens = Vec::new();
        self.encoder.encode(document, &mut tokens);
        // In every test: encoder and decoder must keep the same cache, or later documents
        // differ.
        assert_eq!(&self.decoder.decode(&tokens).unwrap(), document);
        tokens
    }
}

fn text_of<M: Message>(operation: Operation, message: &M) -> Vec<u8> {
    let mut out = Vec::new();
    soap::write_request(
        EnvelopeFormat::DOCUMENT_LITERAL,
        operation,
        message,
        None,
        &mut out,
    );
    out
}

/// Made from the message or from its text, the document is the same.
#[test]
fn the_text_between_changes_nothing() {
    let request = SubmitRequest {
        batch: "2001-01-01".to_owned(),
        records: vec![Record {
            id: -5,
            quantity: 3,
            // Looks like an integer, but its digits would change when it is written as one.
            item: "007".to_owned(),
            remark: "a\r\n<&".to_owned(),
        }],
    };
    let direct = Document::of_request(Operation::Submit, &request);
    let text = text_of(Operation::Submit, &request);
    assert_eq!(token_xml::parse(&text).unwrap(), direct);
    assert_eq!(token_xml::to_xml(&direct), text);
    assert_eq!(
        direct.read_request(Operation::Submit).as_ref(),
        Ok(&request)
    );
}

#[test]
fn documents_of_others_keep_their_elements_attributes_and_texts() {
    let text = "<?xml version='1.0'?><!-- x -->\n<a b='1' c=\"&lt;&#10;'\"><d/> e<![CDATA[<]]>f \
                <x:g xmlns:x='urn:x' x:h=''></x:g></a>";
    let document = token_xml::parse(text.as_bytes()).unwrap();
    assert_eq!(
        String::from_utf8(token_xml::to_xml(&document)).unwrap(),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><a b=\"1\" c=\"&lt;&#10;'\"><d></d> e&lt;f \
         <x:g xmlns:x=\"urn:x\" x:h=\"\"></x:g></a>"
    );
    assert_eq!(
        token_xml::parse(&token_xml::to_xml(&document)).unwrap(),
        document
    );
    Ends::new(TokenCache::NamesAndTexts).carry(&document);
    let namespaces = b"<a xmlns='urn:\">' xmlns:b=\"urn:'>\" b:c='1' d='\"&apos;>'/>";
    let document = token_xml::parse(namespaces).unwrap();
    assert_eq!(
        token_xml::parse(&token_xml::to_xml(&document)).unwrap(),
        document
    );
}

/// The format's example in docs/reference/token-xml.md, to the byte.
#[test]
fn a_call_of_the_page_has_these_tokens() {
    let request = BookRequest {
        owner: "ann".to_owned(),
        day: 200,
        slot: 7,
        title: "x".to_owned(),
        open: true,
        weight: 0.5,
        note: String::new(),
    };
    let document = Document::of_request(Operation::Book, &request);
    let mut ends = Ends::new(TokenCache::NamesAndTexts);
    let new = |token: u8, text: &str| [&[token, text.len() as u8], text.as_bytes()].concat();
    let first = [
        vec![0x40, 0x81, 0xC0, 0x43],
        new(0x01, "BookRequest"),
        vec![0x89],
        new(0x05, "urn:wirelab:calendar:v1"),
        new(0x01, "owner"),
        new(0x05, "ann"),
        vec![0x00],
        new(0x01, "day"),
        vec![0x0A, 0x90, 0x03, 0x00],
        new(0x01, "slot"),
        vec![0x17, 0x00],
        new(0x01, "title"),
        new(0x06, "x"),
        vec![0x00],
        new(0x01, "open"),
        vec![0x09, 0x00],
        new(0x01, "weight"),
        new(0x05, "0.5"),
        vec![0x00],
        new(0x01, "note"),
        vec![0x00, 0x00, 0x00, 0x00],
    ];
    assert_eq!(ends.carry(&document), first.concat());
    let again = [
        vec![0x40, 0x81, 0xC0, 0x43, 0x5E, 0x89, 0xD1],
        vec![
            0x5F, 0xD2, 0x00, 0x60, 0x0A, 0x90, 0x03, 0x00, 0x61, 0x17, 0x00,
        ],
        vec![
            0x62, 0x06, 0x01, b'x', 0x00, 0x63, 0x09, 0x00, 0x64, 0xD3, 0x00, 0x65, 0x00,
        ],
        vec![0x00, 0x00, 0x00],
    ];
    assert_eq!(ends.carry(&document), again.concat());
}

/// The same call where names are all that is cached: its texts are sent whole, by
/// token 6, every time.
#[test]
fn texts_are_sent_whole_where_only_names_are_cached() {
    let request = BookRequest {
        owner: "ann".to_owned(),
        day: 200,
        open: true,
        ..BookRequest::default()
    };
    let document = Document::of_request(Operation::Book, &request);
    let mut ends = Ends::new(TokenCache::Names);
    let text = |text: &str| [&[0x06, text.len() as u8], text.as_bytes()].concat();
    ends.carry(&document);
    let again = [
        vec![0x40, 0x81],
        text("http://schemas.xmlsoap.org/soap/envelope/"),
        vec![0x43, 0x5E, 0x89],
        text("urn:wirelab:calendar:v1"),
        vec![0x5F],
        text("ann"),
        vec![
            0x00, 0x60, 0x0A, 0x90, 0x03, 0x00, 0x61, 0x10, 0x00, 0x62, 0x00, 0x63, 0x09, 0x00,
        ],
        vec![0x64],
        text("0.0"),
        vec![0x00, 0x65, 0x00, 0x00, 0x00, 0x00],
    ];
    assert_eq!(ends.carry(&document), again.concat());
}

/// Tokens that stand for texts do not exist where only names are cached.
#[test]
fn tokens_of_texts_are_refused_where_only_names_are_cached() {
    let document = Document::of_request(Operation::Book, &book(1, 1));
    let mut tokens = Vec::new();
    Encoder::new(TokenCache::NamesAndTexts).encode(&document, &mut tokens);
    let mut names = Decoder::new(TokenCache::Names);
    let refused = names.decode(&tokens).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::UnknownToken(0xC0));
    assert!(names.out_of_sync());
    for token in [0x05, 0x07, 0xC0, 0xFF] {
        let tokens = [0x40, token, 0x00, 0x00];
        let refused = Decoder::new(TokenCache::Names).decode(&tokens).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::UnknownToken(token));
    }
}

/// Bytes of a warm booking and of its reply, whose envelopes have 652 and 464 B.
fn warm_booking(cache: TokenCache) -> (usize, usize) {
    let mut requests = Ends::new(cache);
    let mut replies = Ends::new(cache);
    let mut sizes = (0, 0);
    for n in 0..50 {
        let request = book(0, n);
        let Ok(Reply::Book(reply)) = Call::Book(request.clone()).answer() else {
            panic!("a booking of the workload is taken");
        };
        let document = Document::of_request(Operation::Book, &request);
        assert_eq!(token_xml::to_xml(&document).len(), 652);
        let request = requests.carry(&document).len();
        let reply = replies
            .carry(&Document::of_reply(Operation::Book, &reply))
            .len();
        sizes = (request, reply);
    }
    sizes
}

/// The study found under a quarter of the envelope, headers of packets counted (table 5,
/// Bper against Pers). The bookings here consist of texts to two thirds, so names alone
/// save less; texts that repeat are sent once where they are cached too.
#[test]
fn a_warm_booking_takes_less_than_a_quarter_only_where_texts_are_cached() {
    let share = |(request, reply): (usize, usize)| {
        (request + reply + 2 * HEADERS) as f64 / (652 + 464 + 2 * HEADERS) as f64
    };
    let names = share(warm_booking(TokenCache::Names));
    let texts = share(warm_booking(TokenCache::NamesAndTexts));
    assert!(texts < 0.25, "{texts}");
    assert!((0.25..0.75).contains(&names), "{names}");
}

#[test]
fn replies_and_faults_are_read_without_text() {
    let reply = BookReply {
        number: 5,
        owner: "1".to_owned(),
        title: "true".to_owned(),
    };
    let document = Document::of_reply(Operation::Book, &reply);
    let read = document.read_reply::<BookReply>(Operation::Book);
    assert_eq!(read, Ok(Response::Message(reply)));
    let fault = Fault::client("not enough credit");
    let document = Document::of_fault(&fault);
    let read = document.read_reply::<BookReply>(Operation::Book);
    assert_eq!(read, Ok(Response::Fault(fault)));
    assert!(
        document
            .read_request::<BookRequest>(Operation::Book)
            .is_err()
    );
}

fn hello(text: &str) -> Document {
    let text = text.to_owned();
    Document::of_reply(Operation::Hello, &HelloReply { text })
}

/// Caches run over at both ends alike, however texts and names come and go.
#[test]
fn caches_that_run_over_stay_in_step() {
    let mut ends = Ends::new(TokenCache::NamesAndTexts);
    for n in 0..3000_usize {
        ends.carry(&hello(&format!("text {}", n * n % 700)));
        let name = format!("n{}", n % 1500);
        let document = format!("<{name}><common/></{name}>");
        ends.carry(&token_xml::parse(document.as_bytes()).unwrap());
    }
    let long = "x".repeat(513);
    assert_eq!(
        ends.carry(&hello(&long)).len(),
        ends.carry(&hello(&long)).len()
    );
    let kept = "x".repeat(512);
    assert!(ends.carry(&hello(&kept)).len() > 512);
    assert!(ends.carry(&hello(&kept)).len() < 20);
}

/// Tokens, and whether their error is the right one.
type Case = (Vec<u8>, fn(&ErrorKind) -> bool);

fn refuse(tokens: &[u8]) -> ErrorKind {
    Decoder::new(TokenCache::NamesAndTexts)
        .decode(tokens)
        .unwrap_err()
        .kind
}

/// An element `a` that holds these tokens.
fn wrap(content: &[u8]) -> Vec<u8> {
    [&[1, 1, b'a'], content, &[0]].concat()
}

#[test]
fn tokens_that_are_not_a_document_are_refused() {
    let cases: &[Case] = &[
        (vec![], |k| *k == ErrorKind::Truncated),
        (vec![0x00], |k| matches!(k, ErrorKind::Order(_))),
        (vec![0x17], |k| matches!(k, ErrorKind::Order(_))),
        (vec![0x0D], |k| *k == ErrorKind::UnknownToken(0x0D)),
        (vec![0x0F], |k| *k == ErrorKind::UnknownToken(0x0F)),
        (vec![0x7F], |k| {
            matches!(
                k,
                ErrorKind::Unknown {
                    what: "name",
                    number: 63
                }
            )
        }),
        (vec![0x03, 0x00], |k| {
            matches!(k, ErrorKind::Unknown { number: 64, .. })
        }),
        (wrap(&[0xFF]), |k| {
            matches!(
                k,
                ErrorKind::Unknown {
                    what: "text",
                    number: 63
                }
            )
        }),
        (wrap(&[0x07, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]), |k| {
            matches!(k, ErrorKind::Unknown { what: "text", .. })
        }),
        (wrap(&[0x0A, 0x80, 0x00]), |k| *k == ErrorKind::Number),
        (wrap(&[&[0x0A][..], &[0xFF; 9], &[0x02]].concat()), |k| {
            *k == ErrorKind::Number
        }),
        (wrap(&[0x0B, 0xFE, 0xFF, 0xFF, 0x0F]), |k| {
            *k == ErrorKind::Date
        }),
        (
            wrap(&[0x0C, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]),
            |k| *k == ErrorKind::Date,
        ),
        (wrap(&[0x05, 0xFF, 0xFF, 0xFF, 0x7F]), |k| {
            matches!(k, ErrorKind::Length { .. })
        }),
        (wrap(&[0x06, 0xFF, 0xFF, 0x7F]), |k| {
            *k == ErrorKind::Truncated
        }),
        (wrap(&[0x06, 0x01, 0xFF]), |k| {
            matches!(k, ErrorKind::Characters("UTF-8"))
        }),
        (wrap(&[0x06, 0x01, 0x01]), |k| {
            matches!(k, ErrorKind::Characters("a text"))
        }),
        (wrap(&[0x06, 0x00]), |k| matches!(k, ErrorKind::Order(_))),
        (wrap(&[0x10, 0x10]), |k| matches!(k, ErrorKind::Order(_))),
        (wrap(&[0x10, 0x89, 0x10]), |k| {
            matches!(k, ErrorKind::Order(_))
        }),
        (wrap(&[0x89]), |k| matches!(k, ErrorKind::Order(_))),
        (wrap(&[0x89, 0x40]), |k| matches!(k, ErrorKind::Order(_))),
        (wrap(&[0x89, 0x10, 0x89, 0x10]), |k| {
            matches!(k, ErrorKind::Order(_))
        }),
        (vec![1, 1, b'<'], |k| {
            matches!(k, ErrorKind::Characters("a name"))
        }),
        (vec![1, 0], |k| matches!(k, ErrorKind::Characters("a name"))),
        (vec![1, 0xFF, 0x7F], |k| {
            matches!(k, ErrorKind::Length { .. })
        }),
        ([wrap(&[]), vec![0]].concat(), |k| *k == ErrorKind::Trailing),
        ([wrap(&[]), wrap(&[])].concat(), |k| {
            *k == ErrorKind::Trailing
        }),
        (wrap(&[0x40; 64]), |k| {
            matches!(k, ErrorKind::Limit { limit: 64, .. })
        }),
    ];
    for (tokens, expected) in cases {
        let kind = refuse(tokens);
        assert!(expected(&kind), "{tokens:02X?}: {kind:?}");
    }
    let attributes: Vec<u8> = (0..65)
        .flat_map(|n| [2, 2, b'a' + n / 26, b'a' + n % 26, 0x10])
        .collect();
    assert!(matches!(
        refuse(&wrap(&attributes)),
        ErrorKind::Limit { .. }
    ));
}

#[test]
fn nothing_is_read_behind_a_refused_document() {
    let mut decoder = Decoder::new(TokenCache::NamesAndTexts);
    assert!(decoder.decode(&[0xFF]).is_err());
    let kind = decoder.decode(&wrap(&[])).unwrap_err().kind;
    assert_eq!(kind, ErrorKind::OutOfSync);
}

/// Few tokens that stand for much: refused before the memory is taken.
#[test]
fn tokens_do_not_grow_without_bound() {
    let long = [&[0x05, 0x80, 0x04][..], &[b'x'; 512]].concat();
    let mut tokens = wrap(&[]);
    tokens.pop();
    tokens.extend([&[1, 1, b'b'][..], &long, &[0]].concat());
    for _ in 0..500_000 {
        tokens.extend([0x5F, 0xD1, 0x00]);
    }
    assert!(matches!(
        refuse(&tokens),
        ErrorKind::Limit {
            what: "bytes as XML",
            ..
        }
    ));
    let mut tokens = wrap(&[]);
    tokens.pop();
    tokens.extend([0x5E, 0x00].repeat(2_100_000));
    assert!(matches!(
        refuse(&tokens),
        ErrorKind::Limit { what: "items", .. }
    ));
}

#[test]
fn every_truncation_is_reported() {
    let request = book(3, 4);
    let mut tokens = Vec::new();
    let mut encoder = Encoder::new(TokenCache::NamesAndTexts);
    encoder.encode(
        &Document::of_request(Operation::Book, &request),
        &mut tokens,
    );
    for cut in 0..tokens.len() {
        let kind = refuse(&tokens[..cut]);
        assert_eq!(kind, ErrorKind::Truncated, "cut at {cut}");
    }
}

proptest! {
    /// Any bytes are refused or are a document whose text is that document.
    #[test]
    fn any_bytes_are_a_document_or_an_error(tokens in prop::collection::vec(any::<u8>(), 0..60)) {
        let tokens = [&[0x40][..], &tokens].concat();
        if let Ok(document) = Decoder::new(TokenCache::NamesAndTexts).decode(&tokens) {
            let text = token_xml::to_xml(&document);
            if let Ok(parsed) = token_xml::parse(&text) {
                prop_assert_eq!(token_xml::to_xml(&parsed), text);
            }
        }
    }

    #[test]
    fn any_texts_come_back_over_one_connection(texts in prop::collection::vec(".{0,12}|[0-9-]{1,10}", 1..40)) {
        let mut ends = Ends::new(TokenCache::NamesAndTexts);
        for text in texts {
            let text: String = text.chars().filter(|c| *c >= ' ' && *c < '\u{FFFE}').collect();
            ends.carry(&hello(&text));
            let read = hello(&text).read_reply::<HelloReply>(Operation::Hello);
            prop_assert_eq!(read, Ok(Response::Message(HelloReply { text })));
        }
    }
}
