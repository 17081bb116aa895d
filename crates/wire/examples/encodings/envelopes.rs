//! `envelopes.json`: a request, its reply and a fault of every operation in
//! every form of SOAP.

use serde::Serialize;
use serde_json::{Value, json};
use wirelab_contract::{Operation, Unary, UnaryVisitor};
use wirelab_wire::codec::{Codec, MessageFormat};
use wirelab_wire::soap::{Fault, UsernameToken, Version, write_fault, write_request};

/// One operation in one form.
#[derive(Debug, Serialize)]
struct Envelopes {
    operation: &'static str,
    codec: &'static str,
    soap: &'static str,
    action: String,
    /// In the JSON mapping.
    request: Value,
    request_envelope: String,
    /// The same from [`caller`], with Upload.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_envelope: Option<String>,
    /// In the JSON mapping.
    reply: Value,
    reply_envelope: String,
    /// The text of an application error.
    error: &'static str,
    error_envelope: String,
}

/// The file as it must be.
pub fn format_document() -> String {
    let forms = [
        (Codec::SoapLiteral, Version::V11, "1.1"),
        (Codec::SoapLiteral, Version::V12, "1.2"),
        (Codec::SoapRpc, Version::V11, "1.1"),
        (Codec::SoapRpc, Version::V12, "1.2"),
        (Codec::SoapEncoded, Version::V11, "1.1"),
    ];
    let mut all = Vec::new();
    for (codec, version, soap) in forms {
        let form = MessageFormat::from(codec).in_soap(version);
        for (operation, request, reply) in exchanges() {
            let write = Write {
                form,
                soap,
                request,
                reply,
            };
            all.push(operation.visit_unary(write).expect("unary operations"));
        }
    }
    serde_json::to_string_pretty(&all).expect("vectors have string keys") + "\n"
}

/// The caller of operations that demand authentication.
fn caller() -> UsernameToken {
    UsernameToken {
        username: "lab".to_owned(),
        // A character that XML must escape.
        password: "a & b".to_owned(),
    }
}

struct Write {
    form: MessageFormat,
    soap: &'static str,
    request: Value,
    reply: Value,
}

impl UnaryVisitor for Write {
    type Output = Envelopes;

    fn visit<O: Unary>(self) -> Envelopes {
        let text = |bytes| String::from_utf8(bytes).expect("envelopes are UTF-8");
        let request = serde_json::from_value(self.request.clone()).expect("requests");
        let reply = serde_json::from_value(self.reply.clone()).expect("replies");
        let error = "not enough credit";
        let envelope = self.form.envelope().expect("a codec of SOAP");
        let mut fault = Vec::new();
        write_fault(envelope, &Fault::client(error), &mut fault);
        Envelopes {
            operation: O::OPERATION.name(),
            codec: self.form.codec.name(),
            soap: self.soap,
            action: O::OPERATION.soap_action(),
            request_envelope: text(self.form.write_request::<O>(&request)),
            token_envelope: (O::OPERATION == Operation::Upload).then(|| {
                let mut out = Vec::new();
                write_request(envelope, O::OPERATION, &request, Some(&caller()), &mut out);
                text(out)
            }),
            reply_envelope: text(self.form.write_reply::<O>(&reply)),
            request: self.request,
            reply: self.reply,
            error,
            error_envelope: text(fault),
        }
    }
}

type Exchange = (Operation, Value, Value);

/// A request and a reply of every unary operation; not one of the other's.
fn exchanges() -> Vec<Exchange> {
    [transfer(), charging(), calendar(), records()].concat()
}

#[rustfmt::skip]
fn transfer() -> Vec<Exchange> {
    let record = |id: i64, quantity: i32, item: &str| json!({
        "id": id, "quantity": quantity, "item": item, "remark": "",
    });
    let records = [record(i64::MAX, 3, "bolt <M8> & nut"), record(-1, 0, "гайка")];
    let refused = json!([{"id": -1, "reason": "quantity must be positive"}]);
    vec![
        (Operation::Hello, json!({}), json!({"text": "Hello, wirelab"})),
        (Operation::HelloBytes, json!({}), json!({"text": "SGVsbG8sIHdpcmVsYWI="})),
        (Operation::Submit, json!({"batch": "Größe", "records": records}),
            json!({"batch": "Größe", "accepted": 1, "quantity_total": 3, "refused": refused})),
        (Operation::Submit, json!({"batch": "b", "records": []}),
            json!({"batch": "b", "accepted": 0, "quantity_total": 0, "refused": []})),
        (Operation::Upload, json!({"data": "+//+AA=="}), json!({"length": 4, "sha256": "00ff"})),
    ]
}

#[rustfmt::skip]
fn charging() -> Vec<Exchange> {
    vec![
        (Operation::Credit, json!({"id": 1, "am": 147}), json!({"cn": 1})),
        (Operation::DirectDebit, json!({"id": 1, "am": 438}), json!({"cn": 2})),
        (Operation::Reserve, json!({"id": 1, "am": 520}), json!({"res": 3, "cn": 4})),
        (Operation::DebitReservation, json!({"id": 1, "am": 520, "res": 3}), json!({"cn": 5})),
        (Operation::ReleaseRes, json!({"res": i32::MAX}), json!({"cn": 6})),
        (Operation::CreditControl, json!({"id": 1}),
            json!({"balance": 1_000_000_000, "reserved": 0})),
        (Operation::ConfirmAction, json!({"cn": i32::MIN}), json!({"cn": 7})),
    ]
}

#[rustfmt::skip]
fn records() -> Vec<Exchange> {
    let team = json!({"member1": "Zoë", "member2": "Derek", "member1id": 17, "member2id": 113_520,
        "courseCode": "<CS>", "groupId": 879_253});
    vec![
        (Operation::Allocate, json!({"name": "Zoë", "id": 17, "courseCode": "<CS>"}),
            json!({"message": "stored", "teamDetails": team})),
        (Operation::FindAllocation, json!({"groupId": 879_253}), json!({"teamDetails": team})),
        (Operation::CountAllocations, json!({}), json!({"count": 10_001})),
    ]
}

#[rustfmt::skip]
fn calendar() -> Vec<Exchange> {
    let entry = |slot: i32, title: &str| json!({
        "slot": slot, "title": title, "open": slot > 0, "weight": 0.25,
    });
    vec![
        (Operation::Deploy, json!({"document": "<a b=\"c\">&amp;\r\n</a>"}),
            json!({"status": "deployed 0123456789"})),
        (Operation::Book, json!({"owner": "Jürgen", "day": 364, "slot": 47, "title": "ΔT < 40",
            "open": true, "weight": -1.5e-300, "note": ""}),
            json!({"number": 17_471, "owner": "Jürgen", "title": "ΔT < 40"})),
        (Operation::Entries, json!({"owner": "Jürgen", "day": 1}),
            json!({"entries": [entry(0, ""), entry(5, "a")]})),
        (Operation::Entries, json!({"owner": "nobody", "day": 2}), json!({"entries": []})),
    ]
}
