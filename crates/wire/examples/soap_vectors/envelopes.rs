//! Envelopes as our writer writes them, by the name of their file.

use wirelab_contract::calendar::{BookReply, BookRequest};
use wirelab_contract::charging::{
    ConfirmActionRequest, CreditControlRequest, CreditRequest, DebitReservationRequest,
    DirectDebitRequest, ReleaseResRequest, ReserveReply, ReserveRequest,
};
use wirelab_contract::transfer::{
    HelloBytesReply, Record, Refusal, SubmitReply, SubmitRequest, UploadRequest,
};
use wirelab_contract::{Message, Operation};
use wirelab_wire::soap::{
    Fault, FaultCode, Form, Style, UsernameToken, Version, write_fault, write_reply, write_request,
};

/// File name and envelope of every case.
pub fn all() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for form in forms() {
        submit(form, &mut files);
    }
    study(&mut files);
    others(&mut files);
    for version in Version::ALL {
        faults(version, &mut files);
    }
    files
}

/// Every style in every version that has it.
pub fn forms() -> Vec<Form> {
    let styles = [Style::Literal, Style::Rpc, Style::Encoded];
    let all = Version::ALL
        .into_iter()
        .flat_map(|version| styles.map(|style| Form::new(version, style)));
    all.flatten().collect()
}

type Files = Vec<(String, Vec<u8>)>;

fn submit(form: Form, files: &mut Files) {
    let record = |id, quantity, item: &str, remark: &str| Record {
        id,
        quantity,
        item: item.to_owned(),
        remark: remark.to_owned(),
    };
    let request = SubmitRequest {
        batch: "b-1".to_owned(),
        records: vec![
            record(1, 3, "bolt <M8> & nut", " two spaces "),
            record(i64::MIN, -1, "é 🔩\r\n", ""),
        ],
    };
    let reply = SubmitReply {
        batch: "b-1".to_owned(),
        accepted: 1,
        quantity_total: 3,
        refused: vec![Refusal {
            id: i64::MIN,
            reason: "quantity must be positive".to_owned(),
        }],
    };
    files.push(ask(form, Operation::Submit, "", &request));
    files.push(answer(form, Operation::Submit, "", &reply));
    let none = SubmitRequest::default();
    files.push(ask(form, Operation::Submit, "-empty", &none));
}

/// The calls of Elfwing and Paulsson (2002), appendix C, with their values.
fn study(files: &mut Files) {
    let encoded = Form::new(Version::V11, Style::Encoded).expect("SOAP 1.1 has it");
    let debit = DebitReservationRequest {
        id: 2,
        am: 520,
        res: 12407,
    };
    let direct = DirectDebitRequest { id: 8, am: 438 };
    let control = CreditControlRequest { id: 6 };
    let credit = CreditRequest { id: 8, am: 147 };
    let reserve = ReserveRequest { id: 2, am: 520 };
    let release = ReleaseResRequest { res: 12418 };
    let confirm = ConfirmActionRequest { cn: 76430 };
    files.push(ask(encoded, Operation::Reserve, "", &reserve));
    files.push(ask(encoded, Operation::DebitReservation, "", &debit));
    files.push(ask(encoded, Operation::DirectDebit, "", &direct));
    files.push(ask(encoded, Operation::CreditControl, "", &control));
    files.push(ask(encoded, Operation::Credit, "", &credit));
    files.push(ask(encoded, Operation::ReleaseRes, "", &release));
    files.push(ask(encoded, Operation::ConfirmAction, "", &confirm));
    let reserved = ReserveReply {
        res: 12407,
        cn: 76430,
    };
    files.push(answer(encoded, Operation::Reserve, "", &reserved));
}

fn others(files: &mut Files) {
    let booking = BookRequest {
        owner: "ann".to_owned(),
        day: 364,
        slot: 47,
        title: "t".to_owned(),
        open: true,
        weight: -0.25,
        note: String::new(),
    };
    let booked = BookReply {
        number: 17_471,
        owner: "ann".to_owned(),
        title: "t".to_owned(),
    };
    let token = UsernameToken {
        username: "lab".to_owned(),
        password: "a & b".to_owned(),
    };
    for form in forms() {
        files.push(ask(form, Operation::Book, "", &booking));
        files.push(answer(form, Operation::Book, "", &booked));
        let bytes = HelloBytesReply {
            text: vec![0, 127, 255, 10],
        };
        files.push(answer(form, Operation::HelloBytes, "", &bytes));
        let mut out = Vec::new();
        let upload = UploadRequest {
            data: b"abc".to_vec(),
        };
        write_request(form, Operation::Upload, &upload, Some(&token), &mut out);
        let name = name(form, Operation::Upload.name(), "request-token");
        files.push((name, out));
    }
}

fn faults(version: Version, files: &mut Files) {
    let form = Form::new(version, Style::Literal).expect("both versions have it");
    for (code, text) in [
        (FaultCode::Client, "no such account"),
        (FaultCode::Server, "out of <order>"),
        (FaultCode::VersionMismatch, "v"),
        (FaultCode::MustUnderstand, "m"),
    ] {
        let mut out = Vec::new();
        let file = format!("Fault.{code:?}.{}.xml", version_name(version));
        let text = text.to_owned();
        write_fault(form, &Fault { code, text }, &mut out);
        files.push((file, out));
    }
}

fn ask<M: Message>(form: Form, operation: Operation, case: &str, message: &M) -> (String, Vec<u8>) {
    let mut out = Vec::new();
    write_request(form, operation, message, None, &mut out);
    (name(form, operation.name(), &format!("request{case}")), out)
}

fn answer<M: Message>(
    form: Form,
    operation: Operation,
    case: &str,
    message: &M,
) -> (String, Vec<u8>) {
    let mut out = Vec::new();
    write_reply(form, operation, message, &mut out);
    (name(form, operation.name(), &format!("reply{case}")), out)
}

fn name(form: Form, operation: &str, case: &str) -> String {
    let style = match form.style() {
        Style::Literal => "soap-literal",
        Style::Rpc => "soap-rpc",
        Style::Encoded => "soap-encoded",
    };
    let version = version_name(form.version());
    format!("{operation}.{case}.{style}.{version}.xml")
}

fn version_name(version: Version) -> &'static str {
    match version {
        Version::V11 => "1.1",
        Version::V12 => "1.2",
    }
}
