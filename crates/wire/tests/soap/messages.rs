//! SOAP envelopes, by the mapping of contracts/README.md.

use wirelab_contract::charging::{
    ConfirmActionRequest, CreditControlRequest, CreditRequest, DebitReservationRequest,
    DirectDebitRequest, ReleaseResRequest, ReserveReply, ReserveRequest,
};
use wirelab_contract::transfer::{HelloReply, Record, SubmitReply, SubmitRequest};
use wirelab_contract::{Message, Operation};
use wirelab_wire::soap::{
    self, EnvelopeFormat, Fault, FaultCode, Response, Style, UsernameToken, Version,
};
use wirelab_wire::xml::ErrorKind;

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

fn format(version: Version, style: Style) -> EnvelopeFormat {
    EnvelopeFormat::new(version, style).unwrap()
}

fn rpc_encoded_format() -> EnvelopeFormat {
    format(Version::V11, Style::Encoded)
}

fn formats() -> Vec<EnvelopeFormat> {
    let mut all = vec![rpc_encoded_format()];
    for version in Version::ALL {
        all.extend([Style::Literal, Style::Rpc].map(|style| format(version, style)));
    }
    all
}

fn request<M: Message>(format: EnvelopeFormat, operation: Operation, message: &M) -> String {
    let mut out = Vec::new();
    soap::write_request(format, operation, message, None, &mut out);
    assert_eq!(
        &soap::read_request::<M>(format, operation, &out).unwrap(),
        message
    );
    let text = String::from_utf8(out).unwrap();
    text.strip_prefix(DECLARATION).unwrap().to_owned()
}

fn batch() -> SubmitRequest {
    let record = |id: i64, item: &str| Record {
        id,
        quantity: 5,
        item: item.to_owned(),
        remark: String::new(),
    };
    SubmitRequest {
        batch: "b".to_owned(),
        records: vec![record(1, "<x>"), record(2, " ")],
    }
}

#[test]
fn a_literal_envelope_holds_the_message() {
    let written = request(
        EnvelopeFormat::DOCUMENT_LITERAL,
        Operation::Credit,
        &CreditRequest { id: 8, am: 147 },
    );
    assert_eq!(
        written,
        "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\">\
         <soapenv:Body><CreditRequest xmlns=\"urn:wirelab:charging:v1\"><id>8</id><am>147</am>\
         </CreditRequest></soapenv:Body></soapenv:Envelope>"
    );
    let modern = format(Version::V12, Style::Literal);
    let written = request(modern, Operation::Credit, &CreditRequest { id: 8, am: 147 });
    assert!(written.contains("xmlns:soapenv=\"http://www.w3.org/2003/05/soap-envelope\""));
}

#[test]
fn rpc_puts_the_fields_into_the_operation() {
    let rpc = format(Version::V11, Style::Rpc);
    let written = request(rpc, Operation::Submit, &batch());
    assert!(
        written.contains(
            "<w:submit xmlns:w=\"urn:wirelab:transfer:v1\"><batch>b</batch><records><item><id>1</id>\
             <quantity>5</quantity><item>&lt;x&gt;</item><remark></remark></item><item><id>2</id>"
        ),
        "{written}"
    );
    let empty = request(rpc, Operation::Submit, &SubmitRequest::default());
    assert!(
        empty.contains("<batch></batch><records></records></w:submit>"),
        "{empty}"
    );
}

/// Sizes of the study's calls without indentation (Elfwing and Paulsson 2002,
/// appendix C), with their sample values.
#[test]
fn encoded_calls_are_as_large_as_the_studys() {
    let format = rpc_encoded_format();
    let reserve = request(
        format,
        Operation::Reserve,
        &ReserveRequest { id: 2, am: 520 },
    );
    assert_eq!(
        reserve,
        "<SOAP-ENV:Envelope SOAP-ENV:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\" \
         xmlns:SOAP-ENV=\"http://schemas.xmlsoap.org/soap/envelope/\" \
         xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xmlns:SOAP-ENC=\"http://schemas.xmlsoap.org/soap/encoding/\"><SOAP-ENV:Body><reserve>\
         <id xsi:type=\"xsd:int\">2</id><am xsi:type=\"xsd:int\">520</am></reserve>\
         </SOAP-ENV:Body></SOAP-ENV:Envelope>"
    );
    let debit = DebitReservationRequest {
        id: 2,
        am: 520,
        res: 12407,
    };
    let sizes = [
        reserve.len(),
        request(format, Operation::DebitReservation, &debit).len(),
        request(
            format,
            Operation::DirectDebit,
            &DirectDebitRequest { id: 8, am: 438 },
        )
        .len(),
        request(
            format,
            Operation::CreditControl,
            &CreditControlRequest { id: 6 },
        )
        .len(),
        request(format, Operation::Credit, &CreditRequest { id: 8, am: 147 }).len(),
        request(
            format,
            Operation::ReleaseRes,
            &ReleaseResRequest { res: 12418 },
        )
        .len(),
        request(
            format,
            Operation::ConfirmAction,
            &ConfirmActionRequest { cn: 76430 },
        )
        .len(),
    ];
    assert_eq!(
        sizes.map(|bytes| bytes + DECLARATION.len()),
        [471, 524, 479, 452, 469, 452, 456]
    );
}

#[test]
fn encoded_lists_are_arrays_of_structs() {
    let written = request(rpc_encoded_format(), Operation::Submit, &batch());
    assert!(
        written.contains(
            "<submit><batch xsi:type=\"xsd:string\">b</batch><records xsi:type=\"SOAP-ENC:Array\" \
             xmlns:ns=\"urn:wirelab:transfer:v1\" SOAP-ENC:arrayType=\"ns:Record[2]\">\
             <item xsi:type=\"ns:Record\"><id xsi:type=\"xsd:long\">1</id>\
             <quantity xsi:type=\"xsd:int\">5</quantity>"
        ),
        "{written}"
    );
    let empty = request(
        rpc_encoded_format(),
        Operation::Submit,
        &SubmitRequest::default(),
    );
    assert!(
        empty.contains(
            "<records xsi:type=\"SOAP-ENC:Array\" SOAP-ENC:arrayType=\"xsd:anyType[0]\"></records>"
        ),
        "{empty}"
    );
}

#[test]
fn replies_and_faults_are_distinguished_in_every_format() {
    for format in formats() {
        let reply = ReserveReply { res: 3, cn: 4 };
        let mut out = Vec::new();
        soap::write_reply(format, Operation::Reserve, &reply, &mut out);
        let answer = soap::read_reply::<ReserveReply>(format, Operation::Reserve, &out);
        assert_eq!(answer.unwrap(), Response::Message(reply));
        assert!(
            soap::read_reply::<ReserveReply>(format, Operation::Credit, &out).is_err()
                // A literal body names the message, not the operation.
                || format.style() == Style::Literal
        );
        for code in [
            FaultCode::Client,
            FaultCode::Server,
            FaultCode::VersionMismatch,
            FaultCode::MustUnderstand,
        ] {
            let fault = Fault {
                code,
                text: "no <such> account".to_owned(),
            };
            let mut out = Vec::new();
            soap::write_fault(format, &fault, &mut out);
            let envelope = soap::parse(&out).unwrap();
            assert!(envelope.is_fault());
            let answer = envelope.reply::<ReserveReply>(format, Operation::Reserve);
            assert_eq!(answer.unwrap(), Response::Fault(fault));
        }
    }
}

#[test]
fn faults_have_the_names_of_their_version() {
    let written = |version| {
        let mut out = Vec::new();
        let fault = Fault::client("not enough credit");
        soap::write_fault(format(version, Style::Literal), &fault, &mut out);
        String::from_utf8(out).unwrap()
    };
    assert!(written(Version::V11).contains(
        "<soapenv:Body><soapenv:Fault><faultcode>soapenv:Client</faultcode>\
         <faultstring>not enough credit</faultstring></soapenv:Fault></soapenv:Body>"
    ));
    assert!(written(Version::V12).contains(
        "<soapenv:Fault><soapenv:Code><soapenv:Value>soapenv:Sender</soapenv:Value></soapenv:Code>\
         <soapenv:Reason><soapenv:Text xml:lang=\"en\">not enough credit</soapenv:Text>\
         </soapenv:Reason></soapenv:Fault>"
    ));
    let fault = Fault::client("x");
    assert_eq!(
        [fault.status(Version::V11), fault.status(Version::V12)],
        [500, 400]
    );
    assert!(EnvelopeFormat::new(Version::V12, Style::Encoded).is_err());
}

#[test]
fn tokens_are_written_and_read() {
    let token = UsernameToken {
        username: "lab".to_owned(),
        password: "p<w".to_owned(),
    };
    for format in formats() {
        let message = CreditRequest { id: 1, am: 2 };
        let mut out = Vec::new();
        soap::write_request(format, Operation::Credit, &message, Some(&token), &mut out);
        let envelope = soap::parse(&out).unwrap();
        assert_eq!(envelope.token(), Some(&token));
        assert_eq!(
            envelope
                .request::<CreditRequest>(format, Operation::Credit)
                .unwrap(),
            message
        );
    }
}

fn with_header(block: &str) -> Vec<u8> {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Header>{block}</s:Header>\
         <s:Body><HelloRequest xmlns='urn:wirelab:transfer:v1'/></s:Body></s:Envelope>"
    )
    .into_bytes()
}

#[test]
fn header_blocks_must_be_understood_where_must_understand_is_1() {
    for (block, admitted) in [
        ("", true),
        ("<x:a xmlns:x='urn:x'/>", true),
        ("<x:a xmlns:x='urn:x' s:mustUnderstand='0'/>", true),
        (
            "<x:a xmlns:x='urn:x' s:mustUnderstand='1'>text<b/></x:a>",
            false,
        ),
        (
            "<x:a xmlns:x='urn:x' s:mustUnderstand='1' s:actor='urn:else'/>",
            true,
        ),
        (
            "<x:a xmlns:x='urn:x' s:actor='http://schemas.xmlsoap.org/soap/actor/next' \
             s:mustUnderstand='1'/>",
            false,
        ),
    ] {
        let document = with_header(block);
        let envelope = soap::parse(&document).unwrap();
        let understood = envelope
            .headers()
            .iter()
            .all(|block| !block.must_understand);
        assert_eq!(understood, admitted, "{block}");
        assert_eq!(envelope.body().name, "HelloRequest");
        assert_eq!(envelope.body().namespace, "urn:wirelab:transfer:v1");
    }
}

#[test]
fn a_document_that_is_not_an_envelope_is_refused() {
    let v11 = "xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'";
    let hello = "<HelloReply xmlns='urn:wirelab:transfer:v1'/>";
    for document in [
        "<a/>".to_owned(),
        format!("<s:Envelope {v11}/>"),
        format!("<s:Envelope {v11}><s:Body/></s:Envelope>"),
        format!("<s:Envelope {v11}><Body>{hello}</Body></s:Envelope>"),
        format!("<s:Envelope {v11}><s:Body>{hello}{hello}</s:Body></s:Envelope>"),
        format!("<s:Envelope {v11}><s:Body>{hello}</s:Body><s:Body/></s:Envelope>"),
        format!("<s:Envelope {v11}><s:Body>{hello}</s:Body></s:Envelope><a/>"),
        format!("<s:Envelope {v11}><s:Body>{hello}x</s:Body></s:Envelope>"),
        format!("<s:Envelope {v11}><s:Body><s:Fault/></s:Body></s:Envelope>"),
        format!("<!DOCTYPE a><s:Envelope {v11}><s:Body>{hello}</s:Body></s:Envelope>"),
    ] {
        let read = soap::read_reply::<HelloReply>(
            EnvelopeFormat::DOCUMENT_LITERAL,
            Operation::Hello,
            document.as_bytes(),
        );
        assert!(read.is_err(), "{document}");
    }
    let unknown = soap::parse(b"<e:Envelope xmlns:e='urn:e'/>").err().unwrap();
    assert_eq!(Fault::from(&unknown).code, FaultCode::VersionMismatch);
    let broken = soap::parse(b"<e").err().unwrap();
    assert_eq!(Fault::from(&broken).code, FaultCode::Client);
}

/// A reply as Apache Axis 1.4 writes it, with structs and texts in `multiRef`.
#[test]
fn references_of_axis_are_followed() {
    let reply = read_encoded(
        "<ns1:submitResponse soapenv:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\" \
           xmlns:ns1=\"urn:wirelab:transfer:v1\">\
         <quantity_total href=\"#id1\"/>\
         <refused xsi:type=\"soapenc:Array\" soapenc:arrayType=\"ns1:Refusal[2]\" \
           xmlns:soapenc=\"http://schemas.xmlsoap.org/soap/encoding/\">\
         <refused href=\"#id0\"/><refused href=\"#id0\"/></refused>\
         <batch xsi:type=\"xsd:string\">b</batch><accepted xsi:type=\"xsd:int\">7</accepted>\
         </ns1:submitResponse>\
         <multiRef id=\"id0\" soapenc:root=\"0\" xsi:type=\"ns2:Refusal\" \
           xmlns:soapenc=\"http://schemas.xmlsoap.org/soap/encoding/\" xmlns:ns2=\"urn:x\">\
         <reason href=\"#id2\"/><id xsi:type=\"xsd:long\">4</id></multiRef>\
         <multiRef id=\"id1\" xsi:type=\"xsd:long\">9</multiRef>\
         <multiRef id=\"id2\" xsi:type=\"xsd:string\">item must not be empty</multiRef>",
    );
    let refusal = wirelab_contract::transfer::Refusal {
        id: 4,
        reason: "item must not be empty".to_owned(),
    };
    let expected = SubmitReply {
        batch: "b".to_owned(),
        accepted: 7,
        quantity_total: 9,
        refused: vec![refusal.clone(), refusal],
    };
    assert_eq!(reply, Ok(expected));
}

fn read_encoded(body: &str) -> Result<SubmitReply, ErrorKind> {
    let document = format!(
        "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\" \
         xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><soapenv:Body>{body}\
         </soapenv:Body></soapenv:Envelope>"
    );
    let envelope = soap::parse(document.as_bytes()).map_err(|_| ErrorKind::Truncated)?;
    match envelope.reply(rpc_encoded_format(), Operation::Submit) {
        Ok(Response::Message(reply)) => Ok(reply),
        Ok(Response::Fault(fault)) => panic!("{fault:?}"),
        Err(error) => Err(error.kind),
    }
}

#[test]
fn references_that_lead_nowhere_or_back_are_refused() {
    let fault = |body: &str| match read_encoded(body) {
        Err(ErrorKind::Reference { fault, .. }) => fault,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        fault("<submitResponse><batch href='#a'/></submitResponse>"),
        "leads nowhere"
    );
    assert_eq!(
        fault("<submitResponse><batch href='cid:a'/></submitResponse>"),
        "leads out of the document"
    );
    let cycle = "<submitResponse><batch href='#a'/></submitResponse>\
                 <x id='a' href='#b'/><x id='b' href='#a'/>";
    assert_eq!(fault(cycle), "leads back to itself");
    // 20 MB from 44 kB: each reference copies 10 kB.
    let item = "<item href='#a'/>".repeat(2000);
    let bomb = format!(
        "<submitResponse><refused>{item}</refused></submitResponse>\
         <x id='a'><reason>{}</reason></x>",
        "x".repeat(10_000)
    );
    assert_eq!(fault(&bomb), "makes the document grow beyond measure");
    // No cycle, only deeper than any message.
    let chain: String = (0..70)
        .map(|n| format!("<x id='a{n}' href='#a{}'/>", n + 1))
        .collect();
    let deep = format!("<submitResponse><batch href='#a0'/></submitResponse>{chain}");
    assert!(matches!(read_encoded(&deep), Err(ErrorKind::Limit { .. })));
    for body in [
        "<submitResponse><batch href='#a'>x</batch></submitResponse><x id='a'>y</x>",
        "<submitResponse><batch href='#a'/></submitResponse><x id='a'>y</x><x id='a'>z</x>",
        "<submitResponse/><x>no id</x>",
        "<submitResponse xmlns:e='http://schemas.xmlsoap.org/soap/encoding/'>\
         <refused e:offset='[1]'><item/></refused></submitResponse>",
        "<submitResponse xmlns:e='http://schemas.xmlsoap.org/soap/encoding/'>\
         <refused><item e:position='[1]'/></refused></submitResponse>",
    ] {
        assert!(read_encoded(body).is_err(), "{body}");
    }
}

/// A request as Apache CXF writes it.
#[test]
fn requests_of_cxf_are_read() {
    let document =
        b"<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body>\
        <ns2:SubmitRequest xmlns:ns2=\"urn:wirelab:transfer:v1\"><ns2:batch>b</ns2:batch>\
        <ns2:records><ns2:id>1</ns2:id><ns2:quantity>5</ns2:quantity><ns2:item>&lt;x></ns2:item>\
        <ns2:remark/></ns2:records><ns2:records><ns2:id>2</ns2:id><ns2:quantity>5</ns2:quantity>\
        <ns2:item> </ns2:item><ns2:remark></ns2:remark></ns2:records></ns2:SubmitRequest>\
        </soap:Body></soap:Envelope>";
    let read = soap::read_request::<SubmitRequest>(
        EnvelopeFormat::DOCUMENT_LITERAL,
        Operation::Submit,
        document,
    );
    assert_eq!(read.unwrap(), batch());
}

/// A request as zeep writes it in rpc/literal, and one in SOAP 1.2.
#[test]
fn requests_of_zeep_are_read() {
    let rpc = b"<?xml version='1.0' encoding='utf-8'?>\n\
        <soap-env:Envelope xmlns:soap-env=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap-env:Body>\
        <ns0:submit xmlns:ns0=\"urn:wirelab:transfer:v1\"><batch>b</batch><records>\
        <item><id>1</id><quantity>5</quantity><item>&lt;x&gt;</item><remark></remark></item>\
        <item><id>2</id><quantity>5</quantity><item> </item></item>\
        </records></ns0:submit></soap-env:Body></soap-env:Envelope>";
    let read = soap::read_request::<SubmitRequest>(
        format(Version::V11, Style::Rpc),
        Operation::Submit,
        rpc,
    );
    assert_eq!(read.unwrap(), batch());
    let modern = b"<?xml version='1.0' encoding='utf-8'?>\n\
        <soap-env:Envelope xmlns:soap-env=\"http://www.w3.org/2003/05/soap-envelope\">\n  <soap-env:Body>\n    \
        <ns0:CreditRequest xmlns:ns0=\"urn:wirelab:charging:v1\">\n      <ns0:id>8</ns0:id>\n      \
        <ns0:am>147</ns0:am>\n    </ns0:CreditRequest>\n  </soap-env:Body>\n</soap-env:Envelope>\n";
    let read = soap::read_request::<CreditRequest>(
        format(Version::V12, Style::Literal),
        Operation::Credit,
        modern,
    );
    assert_eq!(read.unwrap(), CreditRequest { id: 8, am: 147 });
}

/// Faults as Axis 1.4, CXF and another stack write them.
#[test]
fn faults_of_others_are_read() {
    let read = |format: EnvelopeFormat, inner: &str| {
        let namespace = format.version().namespace();
        let document =
            format!("<s:Envelope xmlns:s='{namespace}'><s:Body>{inner}</s:Body></s:Envelope>");
        match soap::read_reply::<HelloReply>(format, Operation::Hello, document.as_bytes()).unwrap()
        {
            Response::Fault(fault) => fault,
            Response::Message(_) => panic!("a fault"),
        }
    };
    let axis = "<s:Fault><faultcode>s:Server.userException</faultcode><faultstring>java.lang.X: y\
                </faultstring><detail><h:hostname xmlns:h='http://xml.apache.org/axis/'>a</h:hostname>\
                </detail></s:Fault>";
    let fault = read(EnvelopeFormat::DOCUMENT_LITERAL, axis);
    assert_eq!(
        (fault.code, &*fault.text),
        (FaultCode::Server, "java.lang.X: y")
    );
    let own = "<s:Fault><faultstring xml:lang='en'>z</faultstring><faultcode xmlns:q=\
               'http://schemas.xmlsoap.org/soap/envelope/'> q:Client</faultcode></s:Fault>";
    assert_eq!(
        read(EnvelopeFormat::DOCUMENT_LITERAL, own),
        Fault::client("z")
    );
    // Another namespace: the same local name is another code.
    let other = "<s:Fault><faultcode xmlns:q='urn:q'>q:Client</faultcode><faultstring/></s:Fault>";
    assert_eq!(
        read(EnvelopeFormat::DOCUMENT_LITERAL, other).code,
        FaultCode::Other("q:Client".to_owned())
    );
    let cxf = "<s:Fault><s:Code><s:Value>s:Sender</s:Value><s:Subcode><s:Value xmlns:a='urn:a'>a:b\
               </s:Value></s:Subcode></s:Code><s:Reason><s:Text xml:lang='en'>t</s:Text>\
               <s:Text xml:lang='de'>u</s:Text></s:Reason><s:Detail/></s:Fault>";
    assert_eq!(
        read(format(Version::V12, Style::Literal), cxf),
        Fault::client("t")
    );
}

/// Cut anywhere, an envelope is an error.
#[test]
fn every_truncation_is_reported() {
    for format in formats() {
        let mut document = Vec::new();
        soap::write_request(format, Operation::Submit, &batch(), None, &mut document);
        for cut in 0..document.len() {
            let read =
                soap::read_request::<SubmitRequest>(format, Operation::Submit, &document[..cut]);
            assert!(read.is_err(), "cut at {cut}");
        }
    }
}
