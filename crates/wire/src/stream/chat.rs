//! Events of a streamed chat completion, as servers of language models send them
//! (OpenAI API reference, "Chat completion chunk object"; compatible servers add
//! `reasoning_content` or `reasoning`).

use std::borrow::Cow;
use std::fmt::Display;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::violation;
use crate::ProtocolError;

/// Data of the event that ends a stream.
const DONE: &[u8] = b"[DONE]";

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A piece of the completion.
    Chunk {
        /// Whether it has content, reasoning or a part of a tool call.
        has_token: bool,
        /// Tokens of the whole completion, where the server counted them.
        completion_tokens: Option<u64>,
    },
    /// The server reports an error.
    Error(String),
    /// The stream is complete.
    Done,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    choices: Vec<Choice<'a>>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    content: Option<Text<'a>>,
    #[serde(borrow, default)]
    reasoning_content: Option<Text<'a>>,
    #[serde(borrow, default)]
    reasoning: Option<Text<'a>>,
    #[serde(default)]
    tool_calls: Option<Vec<IgnoredAny>>,
}

/// Borrowed where it has no escapes, which within an `Option` needs a type of its own.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    completion_tokens: Option<u64>,
}

impl Delta<'_> {
    fn has_token(&self) -> bool {
        let texts = [&self.content, &self.reasoning_content, &self.reasoning];
        let is_full = |text: &Text| !text.0.is_empty();
        let has_text = texts.iter().any(|text| text.as_ref().is_some_and(is_full));
        has_text
            || self
                .tool_calls
                .as_ref()
                .is_some_and(|calls| !calls.is_empty())
    }
}

/// Reads the data of one event; content goes to `content`.
///
/// # Errors
/// When it is neither a chunk nor an error.
pub fn read(data: &[u8], mut content: impl FnMut(&str)) -> Result<Event, ProtocolError> {
    if data.trim_ascii() == DONE {
        return Ok(Event::Done);
    }
    let refused = |reason: &dyn Display| {
        violation(
            "an event of a chat completion is a chunk (OpenAI API reference)",
            format_args!("{reason}: {}", crate::excerpt::excerpt(data)),
        )
    };
    // serde would read an array as the fields in their order.
    if !data.trim_ascii_start().starts_with(b"{") {
        return Err(refused(&"not an object"));
    }
    let chunk: Chunk = serde_json::from_slice(data).map_err(|error| refused(&error))?;
    if let Some(error) = chunk.error {
        return Ok(Event::Error(show_error(&error)));
    }
    let deltas = || {
        chunk
            .choices
            .iter()
            .filter_map(|choice| choice.delta.as_ref())
    };
    for text in deltas().filter_map(|delta| delta.content.as_ref()) {
        content(&text.0);
    }
    Ok(Event::Chunk {
        has_token: deltas().any(Delta::has_token),
        completion_tokens: chunk.usage.and_then(|usage| usage.completion_tokens),
    })
}

/// The message of an error, or all of it.
fn show_error(error: &Value) -> String {
    match error.get("message").unwrap_or(error) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(has_token: bool, completion_tokens: Option<u64>) -> Event {
        Event::Chunk {
            has_token,
            completion_tokens,
        }
    }

    #[test]
    fn only_content_reasoning_and_tool_calls_are_tokens() {
        for (delta, has_token) in [
            (r#"{"role":"assistant","content":""}"#, false),
            (
                r#"{"role":"assistant","content":null,"tool_calls":[]}"#,
                false,
            ),
            (r#"{"content":" a\n"}"#, true),
            (r#"{"reasoning_content":"so"}"#, true),
            (r#"{"reasoning":"so","content":""}"#, true),
            (
                r#"{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}"#,
                true,
            ),
            ("{}", false),
        ] {
            let data = format!(r#"{{"id":"x","choices":[{{"index":0,"delta":{delta}}}]}}"#);
            let event = read(data.as_bytes(), |_| ()).unwrap();
            assert_eq!(event, chunk(has_token, None), "{delta}");
        }
    }

    #[test]
    fn usage_comes_with_an_empty_list_of_choices_and_content_is_handed_out() {
        let usage = br#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":17}}"#;
        assert_eq!(read(usage, |_| ()).unwrap(), chunk(false, Some(17)));
        let mut text = String::new();
        let data = r#"{"choices":[{"delta":{"content":"a\u00e4"}}],"usage":null}"#;
        assert_eq!(
            read(data.as_bytes(), |part| text += part).unwrap(),
            chunk(true, None)
        );
        assert_eq!(text, "aä");
    }

    #[test]
    fn errors_and_the_end_differ_from_chunks() {
        assert_eq!(read(b"[DONE]", |_| ()).unwrap(), Event::Done);
        assert_eq!(
            read(
                br#"{"error":{"message":"out of memory","code":500}}"#,
                |_| ()
            )
            .unwrap(),
            Event::Error("out of memory".into())
        );
        assert_eq!(
            read(br#"{"error":"busy"}"#, |_| ()).unwrap(),
            Event::Error("busy".into())
        );
        for data in [
            &b"DONE"[..],
            b"",
            b"[]",
            br#"{"choices":{}}"#,
            b"{\"choices\":[{\"delta\":{\"content\":5}}]}",
        ] {
            assert!(read(data, |_| ()).is_err(), "{data:?}");
        }
    }
}
