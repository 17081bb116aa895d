//! Replies of which a plan expects a schema.

use serde_json::{Value, json};

use crate::engine::{drive, judge_replies, plan, reply};

const JSON: &str = r#"{"id": 7, "user": {"name": "Ada"}}"#;

#[test]
fn a_reply_that_follows_the_schema_is_a_success() {
    let schema = json!({"type": "object", "required": ["id"],
        "properties": {"id": {"type": "integer", "minimum": 1}}});
    let expect = json!({"json_schema": schema, "status": 200});
    let group = judge_replies(expect, reply("200 OK", JSON));
    assert_eq!((&group["ok"], &group["errors"]), (&json!(20), &json!(0)));
    assert_eq!(group["error_examples"], json!([]));
}

#[test]
fn a_reply_that_violates_the_schema_is_an_error_with_place_reason_and_excerpt() {
    let schema = json!({"properties": {"user": {"properties": {"name": {"type": "number"}}}}});
    let list = json!({"type": "array"});
    for (schema, reason) in [
        (
            schema,
            "JSON Schema: /user/name: \"Ada\" is not of type \"number\"",
        ),
        (list, "JSON Schema: /: {\"id\":7,"),
    ] {
        let group = judge_replies(json!({"json_schema": schema}), reply("200 OK", JSON));
        assert_eq!(group["ok"], 0, "{group}");
        assert_eq!(group["errors_by_kind"], json!({"wrong": 20}), "{group}");
        let example = group["error_examples"][0].as_str().expect("an example");
        assert!(example.contains(reason), "{reason}: {example}");
        assert!(example.contains(": {\"id\": 7"), "{example}");
    }
}

#[test]
fn a_schema_that_cannot_be_compiled_is_refused() {
    let refused = |schema: Value| {
        let mut plan = plan("127.0.0.1:9");
        plan["groups"][0]["workload"]["expect"] = json!({"json_schema": schema});
        let (code, event, _) = drive(&plan);
        assert_eq!(code, 2, "{event}");
        event["message"].as_str().expect("a message").to_owned()
    };
    for schema in [
        json!({"type": "nothing"}),
        json!({"$ref": "http://127.0.0.1:9/schema.json"}),
    ] {
        let message = refused(schema.clone());
        assert!(
            message.contains("expect.json_schema: "),
            "{schema}: {message}"
        );
        assert!(
            !message.contains("without JSON Schema"),
            "{schema}: {message}"
        );
    }
}
