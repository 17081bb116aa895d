//! Every operation of every contract in every codec: requests and replies come
//! back as they were, and validation accepts what the contract allows and nothing else.

use proptest::prelude::*;
use prost::Message as _;
use wirelab_contract::calendar::{BookReply, BookRequest, EntriesReply, EntriesRequest, Entry};
use wirelab_contract::charging::{
    ConfirmActionReply, ConfirmActionRequest, CreditControlReply, CreditControlRequest,
    CreditRequest, DebitReservationRequest, ReleaseResRequest, ReserveReply, ReserveRequest,
};
use wirelab_contract::transfer::{
    HelloBytesReply, HelloReply, Record, Refusal, SubmitReply, SubmitRequest, UploadReply,
    UploadRequest,
};
use wirelab_contract::workload::{self, Carried, Function};
use wirelab_contract::{
    ApplicationError, Call, Message, MessageVisitor, Operation, Reply, State, Store, Unary,
    UnaryVisitor, ops,
};
use wirelab_wire::cdr::ByteOrder;
use wirelab_wire::codec::{
    Codec, Expected, MessageFormat, Mismatch, append_request_tokens, request_document,
};
use wirelab_wire::soap::{self, Fault, FaultCode, Version};
use wirelab_wire::token_xml::{self, Decoder, Document, Encoder, TokenCache};
use wirelab_wire::xml;

/// Every way to write a unary operation's messages but text.
fn formats() -> Vec<MessageFormat> {
    let codecs = Codec::ALL
        .iter()
        .copied()
        .filter(|codec| *codec != Codec::Text);
    let mut formats: Vec<MessageFormat> = codecs.map(MessageFormat::from).collect();
    formats.push(MessageFormat::from(Codec::Cdr).in_order(ByteOrder::Big));
    for codec in [Codec::SoapLiteral, Codec::SoapRpc] {
        formats.push(MessageFormat::from(codec).in_soap(Version::V12));
    }
    formats
}

/// Replies are written through the operation's own type.
struct WriteReply<'a>(MessageFormat, &'a Reply);

impl UnaryVisitor for WriteReply<'_> {
    type Output = Vec<u8>;

    fn visit<O: Unary>(self) -> Vec<u8> {
        struct Same<R>(std::marker::PhantomData<R>);
        impl<R: Message> MessageVisitor for Same<R> {
            type Output = R;
            fn visit<M: Message>(self, message: &M) -> R {
                // By way of protobuf: the type of the reply is known only inside the
                // visitor.
                R::decode(&message.encode_to_vec()[..]).unwrap()
            }
        }
        let reply = self.1.visit(Same(std::marker::PhantomData));
        self.0.write_reply::<O>(&reply.expect("one message"))
    }
}

fn write(format: MessageFormat, operation: Operation, reply: &Reply) -> Vec<u8> {
    let body = operation.visit_unary(WriteReply(format, reply));
    body.expect("a unary operation")
}

// What JSON and XML must escape, the end mark of CDATA, and two to four bytes of UTF-8.
const UNICODE: &str = "é ナット \"q\" a/b <&> ]]> \n\t ' \u{2028}🔩";

fn submit() -> SubmitRequest {
    let mut request = workload::submit_request(400, 5).unwrap();
    request.batch = UNICODE.to_owned();
    request.records.push(Record {
        id: i64::MIN,
        remark: UNICODE.to_owned(),
        ..Record::default()
    });
    request
}

fn book() -> BookRequest {
    BookRequest {
        title: UNICODE.to_owned(),
        open: true,
        weight: -1.5e-300,
        ..workload::book(3, 5)
    }
}

/// Calls that the model answers with a reply, one per unary operation at least.
fn calls() -> Vec<Call> {
    let (id, am) = (7, 520);
    vec![
        Call::Hello { hello_bytes: 14 },
        Call::Hello { hello_bytes: 0 },
        Call::Hello { hello_bytes: 2_000 },
        Call::HelloBytes { hello_bytes: 1_000 },
        Call::Submit(submit()),
        Call::Upload(UploadRequest {
            data: (0..=255).collect(),
        }),
        Call::Credit(CreditRequest { id, am }),
        Call::Reserve(ReserveRequest { id, am }),
        Call::CreditControl(CreditControlRequest { id }),
        Call::Deploy(workload::deploy()),
        Call::Book(book()),
        Call::Entries(EntriesRequest {
            owner: UNICODE.to_owned(),
            day: 364,
        }),
    ]
}

#[test]
fn what_the_model_answers_is_accepted_in_every_form() {
    for format in formats() {
        for call in calls() {
            let reply = call.answer().unwrap();
            let body = write(format, call.operation(), &reply);
            let expected = Expected::of(format, &call).unwrap();
            assert_eq!(expected.check(&body), Ok(()), "{format:?} {call:?}");
            assert_eq!(expected.read(None, &body), Ok(reply), "{format:?} {call:?}");
        }
    }
}

/// What must be read again from a request's bytes.
struct ReadRequest<'a>(MessageFormat, &'a [u8]);

impl UnaryVisitor for ReadRequest<'_> {
    type Output = Vec<u8>;

    fn visit<O: Unary>(self) -> Vec<u8> {
        let request = self.0.read_request::<O>(self.1).unwrap();
        request.encode_to_vec()
    }
}

struct Protobuf;

impl MessageVisitor for Protobuf {
    type Output = Vec<u8>;

    fn visit<M: Message>(self, message: &M) -> Vec<u8> {
        message.encode_to_vec()
    }
}

#[test]
fn a_service_reads_the_request_that_was_written() {
    for format in formats() {
        for call in calls() {
            let messages = format.encode(&call).unwrap();
            let [body] = &messages[..] else {
                panic!("one message")
            };
            let read = call.operation().visit_unary(ReadRequest(format, body));
            assert_eq!(read, call.visit(Protobuf), "{format:?} {call:?}");
        }
    }
}

/// A copy with one thing changed, and the field's name.
fn change(reply: &Reply) -> Option<(&'static str, Reply)> {
    let mut reply = reply.clone();
    let field = match &mut reply {
        Reply::Hello(reply) => {
            reply.text.push('+');
            "text"
        }
        Reply::HelloBytes(reply) => {
            // One bit: the smallest change there is.
            *reply.text.last_mut().unwrap() ^= 1;
            "text"
        }
        Reply::Submit(reply) => {
            reply.refused.last_mut().unwrap().id += 1;
            "refused["
        }
        Reply::Upload(reply) => {
            reply.length += 1;
            "length"
        }
        Reply::Deploy(reply) => {
            reply.status.pop();
            "status"
        }
        Reply::Book(reply) => {
            reply.number -= 1;
            "number"
        }
        _ => return None,
    };
    Some((field, reply))
}

#[test]
fn a_reply_with_one_thing_changed_is_refused_by_the_field_s_name() {
    let mut refused = 0;
    for format in formats() {
        for call in calls() {
            let Some((field, reply)) = change(&call.answer().unwrap()) else {
                continue;
            };
            let body = write(format, call.operation(), &reply);
            let error = Expected::of(format, &call)
                .unwrap()
                .check(&body)
                .unwrap_err();
            let Mismatch::Differs { field: found, .. } = &error else {
                panic!("{format:?} {call:?}: {error}")
            };
            assert!(found.starts_with(field), "{format:?}: {error}");
            refused += 1;
        }
    }
    // Eight calls have something to change. Without the count a codec that is skipped would
    // not show.
    assert_eq!(refused, formats().len() * 8);
}

#[test]
fn truncated_replies_are_refused_at_every_byte() {
    for format in formats() {
        for call in calls().into_iter().skip(4) {
            let body = write(format, call.operation(), &call.answer().unwrap());
            let expected = Expected::of(format, &call).unwrap();
            // Protobuf may end after any field; missing fields are then zero.
            let strict = format.codec != Codec::Protobuf || call.operation().pure();
            for end in (0..body.len()).filter(|_| strict) {
                assert!(expected.check(&body[..end]).is_err(), "{format:?} {end}");
            }
        }
    }
}

#[test]
fn sequences_carry_their_numbers_in_every_form() {
    for format in formats() {
        let state = State::new(&Store::default());
        let before = state.money();
        for function in Function::ALL {
            let mut carried = Carried::default();
            let mut step = 0;
            while let Some(call) = function.next(step, 42, &carried) {
                let body = write(format, call.operation(), &state.answer(&call).unwrap());
                let expected = Expected::of(format, &call).unwrap();
                assert_eq!(expected.check(&body), Ok(()));
                carried.take(&expected.read(None, &body).unwrap());
                step += 1;
            }
            assert_eq!(step, function.steps().len());
        }
        // The sum over the five functions: what was carried along must have been right.
        assert_eq!(state.money() - before, -438 + 147 - 520);
    }
}

#[test]
fn charging_replies_of_an_impossible_form_are_refused() {
    let confirm = Call::ConfirmAction(ConfirmActionRequest { cn: 5 });
    let control = Call::CreditControl(CreditControlRequest { id: 1 });
    let reserve = Call::Reserve(ReserveRequest { id: 1, am: 1 });
    let state = |balance, reserved| CreditControlReply { balance, reserved }.into();
    let numbers = |res, cn| ReserveReply { res, cn }.into();
    let cases: Vec<(&Call, Reply, &str)> = vec![
        (&confirm, ConfirmActionReply { cn: 6 }.into(), "cn"),
        (&confirm, ConfirmActionReply { cn: 0 }.into(), "cn"),
        (&control, state(-1, 0), "balance"),
        (&control, state(5, 6), "reserved"),
        (&control, state(5, -1), "reserved"),
        (&reserve, numbers(0, 1), "res"),
        (&reserve, numbers(1, 0), "cn"),
        (&reserve, numbers(1, i32::MIN), "cn"),
    ];
    for format in formats() {
        for (call, reply, field) in &cases {
            let body = write(format, call.operation(), reply);
            let error = Expected::of(format, call)
                .unwrap()
                .check(&body)
                .unwrap_err();
            assert!(error.to_string().starts_with(field), "{format:?}: {error}");
        }
        let whole = write(format, Operation::CreditControl, &state(5, 5));
        assert_eq!(
            Expected::of(format, &control).unwrap().check(&whole),
            Ok(())
        );
    }
}

#[test]
fn entries_out_of_order_are_refused() {
    let call = Call::Entries(EntriesRequest::default());
    let validated = |slots: &[i32]| {
        let entries = slots.iter().map(|&slot| Entry {
            slot,
            ..Entry::default()
        });
        let reply = EntriesReply {
            entries: entries.collect(),
        };
        let body = write(Codec::Json.into(), Operation::Entries, &reply.into());
        Expected::of(Codec::Json, &call).unwrap().check(&body)
    };
    assert_eq!(validated(&[]), Ok(()));
    assert_eq!(validated(&[0, 1, 47]), Ok(()));
    for slots in [&[1, 0][..], &[3, 3], &[48], &[-1]] {
        assert!(validated(slots).is_err(), "{slots:?}");
    }
}

/// RFC 8949 section 3: major type 3 with its length in one byte where it is above 23.
fn cbor_text(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap();
    let head = match length {
        0..=23 => vec![0x60 | length],
        _ => vec![0x78, length],
    };
    [&head, text.as_bytes()].concat()
}

/// fixstr and str 8 of the MessagePack specification.
fn msgpack_text(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap();
    let head = match length {
        0..=31 => vec![0xa0 | length],
        _ => vec![0xd9, length],
    };
    [&head, text.as_bytes()].concat()
}

/// A length in Avro: zigzag doubles it.
fn avro_length(length: usize) -> Vec<u8> {
    vec![
        u8::try_from(2 * length)
            .ok()
            .filter(u8::is_ascii)
            .expect("one byte"),
    ]
}

/// An application error as a service writes it.
fn error_body(format: MessageFormat, operation: Operation, text: &str) -> Vec<u8> {
    if format.codec == Codec::TokenXml {
        let mut out = Vec::new();
        let document = Document::of_fault(&Fault::client(text));
        Encoder::new(TokenCache::default()).encode(&document, &mut out);
        return out;
    }
    if let Some(envelope) = format.envelope() {
        let mut out = Vec::new();
        soap::write_fault(envelope, &Fault::client(text), &mut out);
        return out;
    }
    let contract = operation.contract();
    match format.codec {
        Codec::Json => format!("{{\"error\":\"{text}\"}}").into_bytes(),
        Codec::Cbor => [b"\xa1\x65error".as_slice(), &cbor_text(text)].concat(),
        Codec::Msgpack => [b"\x81\xa5error".as_slice(), &msgpack_text(text)].concat(),
        Codec::Avro => [&avro_length(text.len()), text.as_bytes()].concat(),
        Codec::Xml => xml::error_element(contract, text),
        Codec::Protobuf => {
            let text = text.to_owned();
            HelloReply { text }.encode_to_vec()
        }
        Codec::Cdr => {
            let id = format!("IDL:wirelab/{contract}_v1/ApplicationError:1.0");
            wirelab_wire::cdr::to_vec(format.order, &(id, text)).unwrap()
        }
        Codec::Text => text.as_bytes().to_vec(),
        Codec::SoapLiteral | Codec::SoapRpc | Codec::SoapEncoded | Codec::TokenXml => {
            unreachable!("faults were written before")
        }
    }
}

#[test]
fn application_errors_are_validated_in_every_format() {
    for format in formats() {
        for (operation, error) in [
            (Operation::Submit, ApplicationError::EmptyBatch),
            (Operation::Reserve, ApplicationError::NotEnoughCredit),
            (Operation::Book, ApplicationError::Weight),
        ] {
            let expected = Expected::of_response(format, operation, Err(error)).unwrap();
            assert_eq!(expected.application_error(), Some(error));
            let right = error_body(format, operation, &error.to_string());
            assert_eq!(expected.check_error(None, &right), Ok(()), "{format:?}");
            let wrong = error_body(format, operation, "no");
            let mismatch = expected.check_error(None, &wrong).unwrap_err();
            assert!(mismatch.to_string().starts_with("error: "), "{mismatch}");
            assert!(expected.check_error(None, b"<").is_err(), "{format:?}");
        }
        let hello = Call::Hello { hello_bytes: 14 };
        let body = write(format, Operation::Hello, &hello.answer().unwrap());
        let refused = Err(ApplicationError::EmptyBatch);
        let expected = Expected::of_response(format, Operation::Hello, refused).unwrap();
        assert!(expected.read(None, &body).is_err(), "{format:?}");
        assert!(expected.check_error(None, &body).is_err(), "{format:?}");
        let expected = Expected::of(format, &hello).unwrap();
        let error = error_body(format, Operation::Hello, "no");
        assert!(expected.check_error(None, &error).is_err(), "{format:?}");
    }
}

#[test]
fn a_fault_instead_of_a_reply_is_reported_with_its_code() {
    let call = Call::Reserve(ReserveRequest { id: 1, am: 1 });
    for codec in [Codec::SoapLiteral, Codec::SoapRpc, Codec::SoapEncoded] {
        let format = MessageFormat::from(codec);
        let fault = |code| {
            let text = "no such account".to_owned();
            let mut out = Vec::new();
            soap::write_fault(format.envelope().unwrap(), &Fault { code, text }, &mut out);
            out
        };
        let expected = Expected::of(format, &call).unwrap();
        let error = expected.check(&fault(FaultCode::Server)).unwrap_err();
        assert_eq!(error.to_string(), "fault Server: no such account");
        let error = expected.read(None, &fault(FaultCode::Client)).unwrap_err();
        assert!(matches!(error, Mismatch::Fault { client: true, .. }));
        let refused = Err(ApplicationError::NoAccount);
        let refused = Expected::of_response(format, Operation::Reserve, refused).unwrap();
        assert!(
            refused
                .check_error(None, &fault(FaultCode::Server))
                .is_err()
        );
        assert!(refused.check_error(None, &fault(FaultCode::Client)).is_ok());
    }
}

#[test]
fn later_documents_of_a_connection_take_fewer_tokens() {
    let (mut caller, mut at_service) = (
        Encoder::new(TokenCache::NamesAndTexts),
        Decoder::new(TokenCache::NamesAndTexts),
    );
    let (mut service, mut at_caller) = (
        Encoder::new(TokenCache::NamesAndTexts),
        Decoder::new(TokenCache::NamesAndTexts),
    );
    let mut second_decoder = Decoder::new(TokenCache::NamesAndTexts);
    let state = State::new(&Store::default());
    let mut sizes = Vec::new();
    for n in 0..3 {
        let call = Call::Book(workload::book(1, n));
        let (sent, mut tokens) = (request_document(&call).unwrap(), Vec::new());
        caller.encode(&sent, &mut tokens);
        assert_eq!(at_service.decode(&tokens), Ok(sent));
        let Ok(Reply::Book(reply)) = state.answer(&call) else {
            panic!("a booking is taken");
        };
        sizes.push(tokens.len());
        tokens.clear();
        service.encode(&Document::of_reply(Operation::Book, &reply), &mut tokens);
        let expected = Expected::of(Codec::TokenXml, &call).unwrap();
        let read = expected.read_tokens(&mut at_caller, &tokens);
        assert_eq!(read, Ok(reply.into()));
        let document = second_decoder.decode(&tokens).unwrap();
        assert!(expected.check_error_document(&document).is_err());
    }
    assert!(sizes[1] < sizes[0] && sizes[2] < sizes[0], "{sizes:?}");
}

/// On one connection, so that the caches are compared too.
#[test]
fn the_tokens_of_a_request_are_those_of_its_document() {
    let (mut direct, mut by_document) = (
        Encoder::new(TokenCache::NamesAndTexts),
        Encoder::new(TokenCache::NamesAndTexts),
    );
    for call in calls().into_iter().chain(calls()) {
        let (mut tokens, mut expected) = (Vec::new(), Vec::new());
        append_request_tokens(&call, &mut direct, &mut tokens).unwrap();
        by_document.encode(&request_document(&call).unwrap(), &mut expected);
        assert_eq!(tokens, expected, "{}", call.operation());
    }
    // Tokens have no form for streams.
    let stream = workload::call(Operation::Download, 1, 1, 0).unwrap();
    assert!(append_request_tokens(&stream, &mut direct, &mut Vec::new()).is_err());
}

#[test]
fn a_document_is_the_same_from_the_message_and_from_its_text() {
    for call in calls() {
        let text = MessageFormat::from(Codec::SoapLiteral)
            .encode(&call)
            .unwrap();
        let by_text = token_xml::parse(&text[0]).unwrap();
        assert_eq!(by_text, request_document(&call).unwrap());
    }
    let stream = workload::call(Operation::Download, 1, 1, 0).unwrap();
    assert!(request_document(&stream).is_err());
}

#[test]
fn the_head_s_byte_order_outranks_the_form_s() {
    let call = Call::Book(book());
    let reply = call.answer().unwrap();
    let big = MessageFormat::from(Codec::Cdr).in_order(ByteOrder::Big);
    let body = write(big, Operation::Book, &reply);
    let expected = Expected::of(Codec::Cdr, &call).unwrap();
    assert!(expected.check(&body).is_err());
    let order = Some(ByteOrder::Big);
    assert_eq!(expected.check_ordered(order, 0, &body), Ok(()));
    assert_eq!(expected.read(order, &body), Ok(reply));
}

#[test]
fn the_study_s_messages_have_their_sizes() {
    let format = MessageFormat::from(Codec::SoapLiteral);
    let request = |call: &Call| format.encode(call).unwrap()[0].len();
    let reply = |call: &Call| write(format, call.operation(), &call.answer().unwrap()).len();
    let deploy = Call::Deploy(workload::deploy());
    assert_eq!((request(&deploy), reply(&deploy)), (655, 296));
    for (user, n) in [(0, 0), (5, 9), (77, 480), (8_999, 17_471)] {
        let book = Call::Book(workload::book(user, n));
        assert_eq!((request(&book), reply(&book)), (652, 464));
    }
}

/// Characters that XML 1.0 allows, the awkward ones often.
fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        prop::char::range(' ', '~'),
        prop::sample::select(vec![
            '<', '&', '>', '"', '\'', '\r', '\n', '\t', '\\', 'é', '🔩'
        ]),
        // Ends before the surrogates, which are not characters.
        prop::char::range('\u{A0}', '\u{D7FF}'),
        prop::char::range('\u{10000}', '\u{10FFFF}'),
    ];
    prop::collection::vec(character, 0..12).prop_map(String::from_iter)
}

fn assert_comes_back<O: Unary>(request: &O::Request, reply: &O::Reply) {
    for format in formats() {
        let body = format.write_request::<O>(request);
        assert_eq!(
            format.read_request::<O>(&body).as_ref(),
            Ok(request),
            "{format:?}"
        );
        let body = format.write_reply::<O>(reply);
        assert_eq!(
            format.read_reply::<O>(&body).as_ref(),
            Ok(reply),
            "{format:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_batch_comes_back(
        batch in text(),
        records in prop::collection::vec((any::<i64>(), any::<i32>(), text(), text()), 0..4),
        refused in prop::collection::vec((any::<i64>(), text()), 0..4),
        total in any::<i64>(),
    ) {
        let records = records.into_iter().map(|(id, quantity, item, remark)| Record {
            id, quantity, item, remark,
        });
        let refused = refused.into_iter().map(|(id, reason)| Refusal { id, reason });
        let request = SubmitRequest { batch: batch.clone(), records: records.collect() };
        let reply = SubmitReply {
            batch, accepted: total as i32, quantity_total: total, refused: refused.collect(),
        };
        assert_comes_back::<ops::Submit>(&request, &reply);
    }

    #[test]
    fn any_bytes_come_back(data in prop::collection::vec(any::<u8>(), 0..200), sha256 in text()) {
        let reply = UploadReply { length: data.len() as i64, sha256 };
        assert_comes_back::<ops::Upload>(&UploadRequest { data: data.clone() }, &reply);
        let reply = HelloBytesReply { text: data };
        assert_comes_back::<ops::HelloBytes>(&Default::default(), &reply);
    }

    #[test]
    fn any_booking_comes_back(
        texts in [text(), text(), text()],
        (day, slot, open) in (any::<i32>(), any::<i32>(), any::<bool>()),
        weight in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
        count in 0_usize..4,
    ) {
        let [owner, title, note] = texts;
        let entry = Entry { slot, title: title.clone(), open, weight };
        let reply = BookReply { number: slot, owner: owner.clone(), title: title.clone() };
        let request = BookRequest { owner: owner.clone(), day, slot, title, open, weight, note };
        assert_comes_back::<ops::Book>(&request, &reply);
        let entries = EntriesReply { entries: vec![entry; count] };
        assert_comes_back::<ops::Entries>(&EntriesRequest { owner, day }, &entries);
    }

    #[test]
    fn any_numbers_come_back(id in any::<i32>(), am in any::<i32>(), res in any::<i32>()) {
        let request = DebitReservationRequest { id, am, res };
        assert_comes_back::<ops::DebitReservation>(&request, &Default::default());
        let reply = ReserveReply { res, cn: am };
        assert_comes_back::<ops::Reserve>(&ReserveRequest { id, am }, &reply);
        assert_comes_back::<ops::ReleaseRes>(&ReleaseResRequest { res }, &Default::default());
    }

    #[test]
    fn garbage_is_refused_without_a_panic(body in prop::collection::vec(any::<u8>(), 0..80)) {
        let call = Call::Book(book());
        for format in formats() {
            let expected = Expected::of(format, &call).unwrap();
            prop_assert!(expected.check(&body).is_err());
            let _ = expected.check_error(None, &body);
        }
    }
}
