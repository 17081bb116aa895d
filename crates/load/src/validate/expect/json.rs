//! A JSON body compared with a part of it that must be there, while it is parsed: what
//! nothing is expected of is skipped, and no tree is built.

use std::cell::RefCell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

/// Letters of a found value that a reason shows.
const SHOWN_LETTERS: usize = 80;

/// The expected part of a JSON value.
#[derive(Debug)]
pub(super) enum JsonPattern {
    Null,
    Bool(bool),
    Number(Number),
    Text(Box<str>),
    /// As many elements, one by one.
    List(Vec<JsonPattern>),
    /// These keys, in order of their bytes; others may be there too.
    Object(Vec<(Box<str>, JsonPattern)>),
}

impl JsonPattern {
    pub(super) fn of(value: &Value) -> JsonPattern {
        match value {
            Value::Null => JsonPattern::Null,
            Value::Bool(value) => JsonPattern::Bool(*value),
            Value::Number(number) => JsonPattern::Number(number.clone()),
            Value::String(text) => JsonPattern::Text(text.as_str().into()),
            Value::Array(items) => JsonPattern::List(items.iter().map(JsonPattern::of).collect()),
            Value::Object(keys) => {
                let own = keys.iter();
                let mut keys: Vec<(Box<str>, JsonPattern)> = own
                    .map(|(key, value)| (key.as_str().into(), JsonPattern::of(value)))
                    .collect();
                keys.sort_by(|one, other| one.0.cmp(&other.0));
                JsonPattern::Object(keys)
            }
        }
    }

    /// # Errors
    /// Where `body` differs, or why it is not JSON.
    pub(super) fn check(&self, body: &[u8]) -> Result<(), String> {
        let mismatch = Mismatch::default();
        let mut from = serde_json::Deserializer::from_slice(body);
        let compared = Compared {
            pattern: self,
            mismatch: &mismatch,
        };
        let parsed = compared.deserialize(&mut from).and_then(|()| from.end());
        parsed.map_err(|error| match mismatch.0.into_inner() {
            Some(found) => found.text(),
            None => format!("the body is not JSON: {error}"),
        })
    }

    /// As a reason shows it.
    fn shown(&self) -> String {
        match self {
            JsonPattern::Null => "null".into(),
            JsonPattern::Bool(value) => value.to_string(),
            JsonPattern::Number(number) => number.to_string(),
            JsonPattern::Text(text) => quote(text),
            JsonPattern::List(items) => format!("an array of {}", items.len()),
            JsonPattern::Object(_) => "an object".into(),
        }
    }
}

fn quote(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN_LETTERS).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown:?}{more}")
}

/// Why a value is not the expected one, and where.
#[derive(Debug)]
struct Difference {
    /// From the value outwards.
    path: Vec<String>,
    expected: String,
    found: String,
}

impl Difference {
    fn text(&self) -> String {
        let path: String = self.path.iter().rev().map(String::as_str).collect();
        format!(
            "JSON: ${path}: expected {}, found {}",
            self.expected, self.found
        )
    }
}

/// Where the difference goes, since errors of serde are texts.
#[derive(Default)]
struct Mismatch(RefCell<Option<Difference>>);

impl Mismatch {
    /// The error that ends the parsing.
    #[cold]
    fn error<E: de::Error>(&self, expected: String, found: String) -> E {
        let difference = Difference {
            path: Vec::new(),
            expected,
            found,
        };
        self.0.replace(Some(difference));
        E::custom("")
    }

    /// Notes that the difference is inside of that place.
    #[cold]
    fn place_within<E>(&self, place: impl FnOnce() -> String, error: E) -> E {
        if let Some(difference) = self.0.borrow_mut().as_mut() {
            difference.path.push(place());
        }
        error
    }
}

/// A value that is compared while it is parsed.
#[derive(Clone, Copy)]
struct Compared<'a> {
    pattern: &'a JsonPattern,
    mismatch: &'a Mismatch,
}

impl Compared<'_> {
    fn check_match<E: de::Error>(
        &self,
        same: bool,
        found: impl FnOnce() -> String,
    ) -> Result<(), E> {
        match same {
            true => Ok(()),
            false => Err(self.mismatch.error(self.pattern.shown(), found())),
        }
    }

    fn number<E: de::Error>(&self, found: Number) -> Result<(), E> {
        let same = matches!(self.pattern, JsonPattern::Number(own) if equal(own, &found));
        self.check_match(same, || found.to_string())
    }
}

/// As numbers: 1 and 1.0 are the same, and large integers are not rounded.
fn equal(one: &Number, other: &Number) -> bool {
    one == other || ((one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64())
}

impl<'de> DeserializeSeed<'de> for Compared<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Compared<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        let same = matches!(self.pattern, JsonPattern::Null);
        self.check_match(same, || "null".into())
    }

    fn visit_bool<E: de::Error>(self, found: bool) -> Result<(), E> {
        let same = matches!(self.pattern, JsonPattern::Bool(own) if *own == found);
        self.check_match(same, || found.to_string())
    }

    fn visit_u64<E: de::Error>(self, found: u64) -> Result<(), E> {
        self.number(found.into())
    }

    fn visit_i64<E: de::Error>(self, found: i64) -> Result<(), E> {
        self.number(found.into())
    }

    fn visit_f64<E: de::Error>(self, found: f64) -> Result<(), E> {
        match Number::from_f64(found) {
            Some(number) => self.number(number),
            None => self.check_match(false, || found.to_string()),
        }
    }

    fn visit_str<E: de::Error>(self, found: &str) -> Result<(), E> {
        let same = matches!(self.pattern, JsonPattern::Text(own) if **own == *found);
        self.check_match(same, || quote(found))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let JsonPattern::List(expected) = self.pattern else {
            return self.check_match(false, || "an array".into());
        };
        for (at, pattern) in expected.iter().enumerate() {
            let item = Compared { pattern, ..self };
            let item = items
                .next_element_seed(item)
                .map_err(|error| self.mismatch.place_within(|| format!("[{at}]"), error))?;
            if item.is_none() {
                return self.check_match(false, || format!("an array of {at}"));
            }
        }
        match items.next_element::<IgnoredAny>()? {
            None => Ok(()),
            Some(_) => self.check_match(false, || "a longer one".into()),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let JsonPattern::Object(expected) = self.pattern else {
            return self.check_match(false, || "an object".into());
        };
        let mut come = Bits::default();
        while let Some(place) = entries.next_key_seed(Key(expected))? {
            let Some(at) = place else {
                entries.next_value::<IgnoredAny>()?;
                continue;
            };
            let (key, pattern) = &expected[at];
            entries
                .next_value_seed(Compared { pattern, ..self })
                .map_err(|error| self.mismatch.place_within(|| format!(".{key}"), error))?;
            come.set(at);
        }
        let missing = (0..expected.len()).find(|at| !come.has(*at));
        let Some(at) = missing else { return Ok(()) };
        let (key, pattern) = &expected[at];
        let error = self.mismatch.error(pattern.shown(), "no such key".into());
        Err(self.mismatch.place_within(|| format!(".{key}"), error))
    }
}

/// A key of an object: its place among the expected ones.
struct Key<'a>(&'a [(Box<str>, JsonPattern)]);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Option<usize>, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<Option<usize>, E> {
        let place = self.0.binary_search_by(|(own, _)| (**own).cmp(key));
        Ok(place.ok())
    }
}

/// Numbers that were noted; memory is taken for those from 64 on only.
#[derive(Default)]
struct Bits {
    few: u64,
    more: Vec<bool>,
}

impl Bits {
    fn set(&mut self, at: usize) {
        match at.checked_sub(64) {
            None => self.few |= 1 << at,
            Some(at) => {
                let length = self.more.len().max(at + 1);
                self.more.resize(length, false);
                self.more[at] = true;
            }
        }
    }

    fn has(&self, at: usize) -> bool {
        match at.checked_sub(64) {
            None => self.few & 1 << at != 0,
            Some(at) => self.more.get(at).is_some_and(|has| *has),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::time::Instant;

    use serde_json::json;

    use super::*;

    fn verdict(expected: Value, body: &str) -> String {
        let checked = JsonPattern::of(&expected).check(body.as_bytes());
        checked.err().unwrap_or_default()
    }

    #[test]
    fn keys_that_are_not_expected_may_be_there() {
        let body =
            r#"{"id":7,"more":[{"a":null}],"user":{"name":"Åsa","age":3.0,"x":[]},"ok":true}"#;
        let expected = json!({"user": {"age": 3, "name": "Åsa"}, "ok": true, "id": 7.0});
        assert_eq!(verdict(expected, body), "");
        assert_eq!(verdict(json!({}), body), "");
        assert_eq!(
            verdict(json!({"name": "a\"b"}), r#"{"name":"a\u0022b"}"#),
            ""
        );
    }

    #[test]
    fn the_first_difference_is_named_with_its_place() {
        for (expected, body, reason) in [
            (
                json!({"a": {"b": 1}}),
                r#"{"a":{"c":1}}"#,
                "$.a.b: expected 1, found no such key",
            ),
            (
                json!({"a": [1, {"b": 2}]}),
                r#"{"a":[1,{"b":3}]}"#,
                "$.a[1].b: expected 2, found 3",
            ),
            (
                json!({"a": 1}),
                r#"{"a":"1"}"#,
                "$.a: expected 1, found \"1\"",
            ),
            (
                json!({"a": "1"}),
                r#"{"a":1.5}"#,
                "$.a: expected \"1\", found 1.5",
            ),
            (
                json!({"a": null}),
                r#"{"a":0}"#,
                "$.a: expected null, found 0",
            ),
            (
                json!({"a": [1]}),
                r#"{"a":[1,2]}"#,
                "$.a: expected an array of 1, found a longer one",
            ),
            (
                json!({"a": [1]}),
                r#"{"a":[]}"#,
                "$.a: expected an array of 1, found an array of 0",
            ),
            (
                json!({"a": true}),
                r#"{"a":{}}"#,
                "$.a: expected true, found an object",
            ),
            (
                json!([true]),
                "{}",
                "$: expected an array of 1, found an object",
            ),
            (
                json!({"a": 1}),
                "[]",
                "$: expected an object, found an array",
            ),
            // Beyond 2^53 numbers of floating point would be the same.
            (
                json!({"a": 9_007_199_254_740_993_u64}),
                r#"{"a":9007199254740992}"#,
                "$.a: expected 9007199254740993, found 9007199254740992",
            ),
        ] {
            assert_eq!(verdict(expected, body), format!("JSON: {reason}"));
        }
    }

    #[test]
    fn content_that_is_not_json_is_refused_even_behind_what_is_expected() {
        for body in ["", "<html>", r#"{"a":1"#, r#"{"a":1} x"#, r#"{"a":1,"b":}"#] {
            let reason = verdict(json!({"a": 1}), body);
            assert!(
                reason.starts_with("the body is not JSON"),
                "{body}: {reason}"
            );
        }
    }

    #[test]
    fn a_key_that_comes_twice_does_not_stand_for_another() {
        assert_eq!(
            verdict(json!({"a": 1, "b": 1}), r#"{"a":1,"a":1}"#),
            "JSON: $.b: expected 1, found no such key"
        );
        let many: Value = (0..100)
            .map(|at| (format!("k{at:03}"), json!(at)))
            .collect();
        assert_eq!(verdict(many.clone(), &many.to_string()), "");
        let mut fewer = many.clone();
        fewer.as_object_mut().unwrap().remove("k099");
        let reason = verdict(many, &fewer.to_string());
        assert_eq!(reason, "JSON: $.k099: expected 99, found no such key");
    }

    /// The bound of the requirement. Only release builds are measured:
    /// `cargo test --release -p wirelab-load json_subset`.
    #[test]
    #[cfg_attr(debug_assertions, ignore = "speed is a matter of release builds")]
    fn a_json_subset_of_200_bytes_takes_a_microsecond_at_most() {
        let body = json!({
            "id": 12345, "customer": {"name": "Ada Lovelace", "city": "London"},
            "lines": [{"item": "chair", "price": 49.5}, {"item": "table", "price": 129}],
            "status": "accepted", "total": 178.5, "paid": true, "note": "leave at door 12 b",
        })
        .to_string();
        assert!((190..=230).contains(&body.len()), "{} B", body.len());
        let pattern = JsonPattern::of(&json!({
            "id": 12345, "customer": {"name": "Ada Lovelace"}, "status": "accepted",
            "lines": [{"item": "chair"}, {"price": 129}], "paid": true,
        }));
        // The best of several rounds: others share the machine.
        let best = (0..50).map(|_| {
            let began = Instant::now();
            for _ in 0..1000 {
                assert_eq!(
                    black_box(&pattern).check(black_box(body.as_bytes())),
                    Ok(())
                );
            }
            began.elapsed().as_nanos() as f64 / 1000.0
        });
        let best = best.fold(f64::MAX, f64::min);
        println!("JSON subset of a reply of {} B: {best:.0} ns", body.len());
        assert!(best <= 1000.0, "{best:.0} ns");
    }
}
