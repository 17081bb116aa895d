//! `soap@rust` against the contracts, by requests written by hand.

use serde_json::{Value, json};

use crate::harness::{Service, soap, with};

const ENVELOPE_11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const ENVELOPE_12: &str = "http://www.w3.org/2003/05/soap-envelope";
const WSSE: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";

fn charging(stack: &Value) -> Service {
    Service::start(
        stack,
        json!({"contract": "charging", "store": {"balance": 1000}}),
    )
}

/// An envelope in the manner of another toolkit: other prefixes, white space.
fn envelope(namespace: &str, header: &str, body: &str) -> String {
    format!(
        "<?xml version='1.0'?>\n<e:Envelope xmlns:e='{namespace}'>\n  \
         <e:Header>{header}</e:Header>\n  <e:Body>\n{body}\n</e:Body></e:Envelope>"
    )
}

fn call_11(service: &Service, operation: &str, document: &str) -> String {
    let action = format!("\"urn:wirelab:charging:v1#{operation}\"");
    let fields = [
        ("content-type", "text/xml; charset=utf-8"),
        ("SOAPAction", &action),
    ];
    service.post("/charging/soap", &fields, document.as_bytes())
}

fn call_12(service: &Service, operation: &str, document: &str) -> String {
    let content_type = format!(
        "application/soap+xml; charset=utf-8; action=\"urn:wirelab:charging:v1#{operation}\""
    );
    let fields = [("content-type", &*content_type)];
    service.post("/charging/soap", &fields, document.as_bytes())
}

const LITERAL: &str = "<c:CreditControlRequest xmlns:c='urn:wirelab:charging:v1'>\
                       <c:id>7</c:id></c:CreditControlRequest>";

#[test]
fn every_style_answers_in_its_own_form() {
    let rpc = "<c:creditControl xmlns:c='urn:wirelab:charging:v1'><id>7</id></c:creditControl>";
    let encoded = "<creditControl xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' \
                   xmlns:xsd='http://www.w3.org/2001/XMLSchema'>\
                   <id xsi:type='xsd:int'>7</id></creditControl>";
    for (codec, body, found) in [
        (
            "soap-literal",
            LITERAL,
            ["<CreditControlReply", "<balance>1000</balance>"],
        ),
        (
            "soap-rpc",
            rpc,
            ["creditControlResponse", "<balance>1000</balance>"],
        ),
        (
            "soap-encoded",
            encoded,
            ["<creditControlResponse>", "xsi:type=\"xsd:int\">1000<"],
        ),
    ] {
        let service = charging(&soap(codec));
        let reply = call_11(&service, "CreditControl", &envelope(ENVELOPE_11, "", body));
        assert!(reply.starts_with("HTTP/1.1 200 OK\r\n"), "{codec}: {reply}");
        assert!(
            reply.contains("content-type: text/xml; charset=utf-8\r\n"),
            "{reply}"
        );
        for part in found {
            assert!(reply.contains(part), "{codec}: {part} is not in {reply}");
        }
        assert_eq!(
            service.metric("wirelab_calls_total{operation=\"CreditControl\"}"),
            1.0
        );
    }
}

#[test]
fn an_application_error_is_the_callers_fault() {
    let request = LITERAL.replace('7', "7777");
    let service = charging(&soap("soap-literal"));
    let reply = call_11(
        &service,
        "CreditControl",
        &envelope(ENVELOPE_11, "", &request),
    );
    assert!(reply.starts_with("HTTP/1.1 500 "), "{reply}");
    assert!(
        reply.contains(":Client</faultcode><faultstring>no such account</"),
        "{reply}"
    );
    assert_eq!(
        service.metric("wirelab_errors_total{operation=\"CreditControl\"}"),
        1.0
    );

    let service = charging(&with(soap("soap-literal"), "soap", "1.2"));
    let reply = call_12(
        &service,
        "CreditControl",
        &envelope(ENVELOPE_12, "", &request),
    );
    assert!(reply.starts_with("HTTP/1.1 400 "), "{reply}");
    assert!(reply.contains("content-type: application/soap+xml; charset=utf-8\r\n"));
    for part in [":Sender</", "xml:lang=\"en\"", ">no such account</"] {
        assert!(reply.contains(part), "{part} is not in {reply}");
    }
    let reply = call_12(
        &service,
        "CreditControl",
        &envelope(ENVELOPE_12, "", LITERAL),
    );
    assert!(
        reply.starts_with("HTTP/1.1 200 ") && reply.contains(">1000</"),
        "{reply}"
    );
}

#[test]
fn what_a_service_must_refuse_it_refuses() {
    let service = charging(&soap("soap-literal"));
    let block = "<x:odd xmlns:x='urn:x' e:mustUnderstand='1'/>";
    let good = envelope(ENVELOPE_11, "", LITERAL);
    for (operation, document, code) in [
        (
            "CreditControl",
            envelope(ENVELOPE_12, "", LITERAL),
            "VersionMismatch",
        ),
        (
            "CreditControl",
            envelope("urn:other", "", LITERAL),
            "VersionMismatch",
        ),
        (
            "CreditControl",
            envelope(ENVELOPE_11, block, LITERAL),
            "MustUnderstand",
        ),
        ("Credit", good.clone(), "Client"),
        ("Nothing", good.clone(), "Client"),
        (
            "CreditControl",
            envelope(ENVELOPE_11, "", "<other/>"),
            "Client",
        ),
        ("CreditControl", envelope(ENVELOPE_11, "", ""), "Client"),
        ("CreditControl", good[..good.len() / 2].to_owned(), "Client"),
        (
            "CreditControl",
            format!("<!DOCTYPE e [<!ENTITY a 'b'>]>{good}"),
            "Client",
        ),
        ("CreditControl", "no xml at all".to_owned(), "Client"),
        ("CreditControl", String::new(), "Client"),
    ] {
        let reply = call_11(&service, operation, &document);
        assert!(reply.starts_with("HTTP/1.1 500 "), "{document}: {reply}");
        assert!(
            reply.contains(&format!(":{code}</faultcode>")),
            "{document}: {reply}"
        );
    }
    let ignored = "<x:odd xmlns:x='urn:x'/>";
    let reply = call_11(
        &service,
        "CreditControl",
        &envelope(ENVELOPE_11, ignored, LITERAL),
    );
    assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
}

#[test]
fn only_soap_is_taken_at_its_path() {
    let service = charging(&soap("soap-literal"));
    let plain = [("content-type", "application/json")];
    let reply = service.post("/charging/soap", &plain, b"{}");
    assert!(reply.starts_with("HTTP/1.1 415 "), "{reply}");
    let coded = [("content-type", "text/xml"), ("content-encoding", "gzip")];
    let reply = service.post("/charging/soap", &coded, b"");
    assert!(reply.starts_with("HTTP/1.1 415 "), "{reply}");
    let reply = service.post("/transfer/soap", &[("content-type", "text/xml")], b"");
    assert!(reply.starts_with("HTTP/1.1 404 "), "{reply}");
    let get = b"GET /charging/soap HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let reply = String::from_utf8(service.exchange(get)).unwrap();
    assert!(
        reply.starts_with("HTTP/1.1 405 ") && reply.contains("allow: "),
        "{reply}"
    );
    assert_eq!(service.metric("wirelab_call_seconds_total"), 0.0);
}

#[test]
fn its_description_names_its_address() {
    for (codec, style, query) in [
        ("soap-literal", "document", "wsdl"),
        ("soap-rpc", "rpc", "WSDL"),
        ("soap-encoded", "rpc", "wsdl"),
    ] {
        let service = charging(&soap(codec));
        let address = service.address();
        let request = format!(
            "GET /charging/soap?{query} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
        );
        let reply = String::from_utf8(service.exchange(request.as_bytes())).unwrap();
        assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
        assert!(reply.contains("content-type: text/xml; charset=utf-8\r\n"));
        assert!(reply.contains(&format!("style=\"{style}\"")));
        assert!(reply.contains(&format!("location=\"http://{address}/charging/soap\"")));
    }
}

#[test]
fn a_configured_token_is_demanded() {
    let store = json!({"username": "alice", "password": "se<ret"});
    let other = json!({"contract": "charging", "store": store});
    let service = Service::start(&soap("soap-literal"), other);
    let token = |password: &str| {
        format!(
            "<w:Security xmlns:w='{WSSE}' e:mustUnderstand='1'><w:UsernameToken>\
             <w:Username>alice</w:Username><w:Password>{password}</w:Password>\
             </w:UsernameToken></w:Security>"
        )
    };
    for (header, fine) in [
        (token("se&lt;ret"), true),
        (token("secret"), false),
        (String::new(), false),
    ] {
        let document = envelope(ENVELOPE_11, &header, LITERAL);
        let reply = call_11(&service, "CreditControl", &document);
        assert_eq!(reply.starts_with("HTTP/1.1 200 "), fine, "{reply}");
        assert_eq!(reply.contains(">authentication failed</"), !fine, "{reply}");
    }
}

#[test]
fn every_fault_switch_works() {
    for (faults, name) in [
        (
            json!({"wrong": {"every": 2, "what": "content"}}),
            "wrong_content",
        ),
        (
            json!({"wrong": {"every": 2, "what": "length"}}),
            "wrong_length",
        ),
        (
            json!({"wrong": {"every": 2, "what": "status"}}),
            "wrong_status",
        ),
        (json!({"close_mid_reply": {"every": 2}}), "close_mid_reply"),
        (json!({"reset": {"every": 2}}), "reset"),
        (json!({"garbage": {"every": 2}}), "garbage"),
    ] {
        let other = json!({"contract": "charging", "faults": faults});
        let service = Service::start(&soap("soap-rpc"), other);
        let rpc = "<c:creditControl xmlns:c='urn:wirelab:charging:v1'><id>7</id></c:creditControl>";
        let document = envelope(ENVELOPE_11, "", rpc);
        let body = |reply: &[u8]| {
            let text = String::from_utf8_lossy(reply);
            text.split("\r\n\r\n").nth(1).unwrap_or_default().to_owned()
        };
        let ask = || {
            let request = format!(
                "POST /charging/soap HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
                 content-type: text/xml\r\nsoapaction: \"urn:wirelab:charging:v1#CreditControl\"\
                 \r\ncontent-length: {}\r\n\r\n{document}",
                document.len()
            );
            service.exchange(request.as_bytes())
        };
        let (first, second) = (ask(), ask());
        assert!(body(&first).contains("<balance>1000000000</balance>"));
        let same = if name == "wrong_status" {
            assert!(second.starts_with(b"HTTP/1.1 500 "));
            false
        } else {
            body(&first) == body(&second)
        };
        assert!(!same, "{name}: {}", String::from_utf8_lossy(&second));
        let committed = format!("wirelab_faults_total{{fault=\"{name}\"}}");
        assert_eq!(service.metric(&committed), 1.0);
    }
}
