//! The serde form of the messages is the JSON mapping of contracts/README.md.

use wirelab_contract::calendar::Entry;
use wirelab_contract::json::Object;
use wirelab_contract::transfer::{
    Record, Refusal, SubmitReply, SubmitRequest, UploadReply, UploadRequest,
};

#[test]
fn every_field_is_written_under_its_own_name() {
    assert_eq!(
        serde_json::to_string(&SubmitReply::default()).unwrap(),
        r#"{"batch":"","accepted":0,"quantity_total":0,"refused":[]}"#
    );
    assert_eq!(
        serde_json::to_string(&UploadRequest::default()).unwrap(),
        r#"{"data":""}"#
    );
}

#[test]
fn integers_are_numbers_with_all_their_digits() {
    let reply = SubmitReply {
        quantity_total: i64::MAX,
        refused: vec![Refusal {
            id: i64::MIN,
            reason: "x".into(),
        }],
        ..SubmitReply::default()
    };
    let json = serde_json::to_string(&reply).unwrap();
    assert!(
        json.contains(r#""quantity_total":9223372036854775807"#),
        "{json}"
    );
    assert!(json.contains(r#""id":-9223372036854775808"#), "{json}");
    assert_eq!(serde_json::from_str::<SubmitReply>(&json).unwrap(), reply);
}

#[test]
fn bytes_are_padded_base64() {
    let request = UploadRequest {
        data: vec![0xFB, 0xFF, 0xFE, 0],
    };
    let json = serde_json::to_string(&request).unwrap();
    assert_eq!(json, r#"{"data":"+//+AA=="}"#);
    assert_eq!(
        serde_json::from_str::<UploadRequest>(&json).unwrap(),
        request
    );
    // Base64 is a text of JSON, so its characters may be escaped too.
    let escaped = r#"{"data":"+\/\/+AA\u003d="}"#;
    assert_eq!(
        serde_json::from_str::<UploadRequest>(escaped).unwrap(),
        request
    );
    for bad in [
        // Without padding, with the alphabet for URLs, and as an array of numbers.
        r#"{"data":"+//+AA"}"#,
        r#"{"data":"-__-AA=="}"#,
        r#"{"data":[1]}"#,
    ] {
        assert!(serde_json::from_str::<UploadRequest>(bad).is_err(), "{bad}");
    }
}

#[test]
fn absent_fields_are_zero_and_unknown_ones_ignored() {
    let json = r#"{"records":[{"id":5,"colour":{"deep":[1,2]}}],"other":null}"#;
    let expected = SubmitRequest {
        batch: String::new(),
        records: vec![Record {
            id: 5,
            ..Record::default()
        }],
    };
    assert_eq!(
        serde_json::from_str::<SubmitRequest>(json).unwrap(),
        expected
    );
    assert_eq!(
        serde_json::from_str::<UploadReply>("{}").unwrap(),
        UploadReply::default()
    );
}

#[test]
fn integers_out_of_range_are_refused() {
    for bad in [
        r#"{"records":[{"id":9223372036854775808}]}"#,
        r#"{"records":[{"quantity":2147483648}]}"#,
        r#"{"records":[{"id":"5"}]}"#,
        r#"{"records":[{"id":1.5}]}"#,
    ] {
        assert!(serde_json::from_str::<SubmitRequest>(bad).is_err(), "{bad}");
    }
}

#[test]
fn messages_are_objects_and_nothing_else() {
    let parse = serde_json::from_str::<Object<SubmitRequest>>;
    let request = SubmitRequest {
        batch: "b".into(),
        records: vec![Record::default()],
    };
    assert_eq!(
        parse(r#"{"batch":"b","records":[{}]}"#).unwrap(),
        Object(request)
    );
    for bad in [
        // serde's derived readers take arrays for structs.
        r#"["b",[]]"#,
        r#"{"records":[[1,2,"x",""]]}"#,
        r#"{"records":{}}"#,
        "null",
        "1",
    ] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_double_is_read_as_it_was_written() {
    // 8.18951969413231e-237 is the shortest form of a double that a reader
    // without care takes for its neighbour.
    for weight in [8.189_519_694_132_31e-237, 5e-324, f64::MAX, -0.1, 0.0] {
        let entry = Entry {
            weight,
            ..Entry::default()
        };
        let json = serde_json::to_string(&entry).unwrap();
        assert_eq!(
            serde_json::from_str::<Entry>(&json).unwrap(),
            entry,
            "{json}"
        );
    }
    // JSON writes whole doubles without a fraction in some libraries.
    let whole = serde_json::from_str::<Entry>(r#"{"weight":5}"#).unwrap();
    assert_eq!(whole.weight, 5.0);
}
