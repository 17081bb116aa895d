//! Values of a row in the place of `${column}`, in requests to services that are not of the lab.

use std::fmt::Write as _;

use serde_json::Value;

use crate::call::fault;
use crate::call::result::Fault;
use crate::request::data::{Cell, Row};

/// Where a text is, which says how values are written in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    /// In a path or query: anything that has a meaning there is percent-encoded.
    Path,
    /// In a header: as it is, and nothing that would end the header.
    Header,
    /// In a body that is not JSON: as it is.
    Text,
    /// In JSON. A string that is nothing but a placeholder becomes the value with its type, and
    /// text of CSV that reads as a number, true, false or null is that.
    Json,
}

/// The text with the values of a row.
///
/// # Errors
/// A placeholder without a column of its name, or without an end.
pub(crate) fn filled(text: &str, row: &Row, within: Within) -> Result<String, Fault> {
    let (mut done, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, end)) = after.split_once('}') else {
            return refuse(row, "a placeholder has no end", "write ${column}");
        };
        let Some(cell) = cell(row, name) else {
            let columns: Vec<&str> = row.values.iter().map(|(name, _)| &**name).collect();
            let remedy = format!("columns are {}", columns.join(", "));
            return refuse(row, &format!("there is no column {name:?}"), remedy);
        };
        done.push_str(before);
        rest = end;
        match within {
            Within::Header => {
                let value = plain(cell);
                if value.chars().any(char::is_control) {
                    let what = format!(
                        "{name:?} is not a value of a header: {}",
                        value.escape_debug()
                    );
                    return refuse(
                        row,
                        &what,
                        "leave out line ends and other control characters",
                    );
                }
                done.push_str(&value);
            }
            Within::Text => done.push_str(&plain(cell)),
            Within::Path => encode(&plain(cell), &mut done),
            Within::Json => {
                let opened = before.ends_with('"') && !before.ends_with("\\\"");
                if let (true, Some(after)) = (opened, end.strip_prefix('"')) {
                    done.pop();
                    done.push_str(&cell.value(&Value::Null).to_string());
                    rest = after;
                } else {
                    let quoted = Value::String(plain(cell)).to_string();
                    done.push_str(&quoted[1..quoted.len() - 1]);
                }
            }
        }
    }
    done.push_str(rest);
    Ok(done)
}

fn refuse<T>(row: &Row, what: &str, remedy: impl Into<String>) -> Result<T, Fault> {
    Err(fault::plan(format!("data: {}: {what}", row.place), remedy))
}

fn cell<'a>(row: &'a Row, name: &str) -> Option<&'a Cell> {
    let found = row.values.iter().find(|(own, _)| &**own == name);
    found.map(|(_, cell)| cell)
}

fn plain(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) | Cell::Json(Value::String(text)) => text.clone(),
        Cell::Json(value) => value.to_string(),
    }
}

/// Percent-encoded, except for the unreserved characters (RFC 3986, section 2.3).
fn encode(text: &str, into: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                into.push(char::from(byte));
            }
            _ => {
                let _ = write!(into, "%{byte:02X}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn row() -> Row {
        let text = |text: &str| Cell::Text(text.into());
        let values = [
            ("id", text("7")),
            ("name", text("a \"b\"/ü")),
            ("zip", text("007")),
            ("tags", Cell::Json(json!(["x", 1]))),
            ("code", Cell::Json(json!("9"))),
        ];
        Row {
            place: "a.csv, line 2".into(),
            values: values.map(|(name, cell)| (Arc::from(name), cell)).into(),
        }
    }

    #[test]
    fn values_are_encoded_for_their_place() {
        for (text, within, expected) in [
            (
                "/a/${id}?n=${name}",
                Within::Path,
                "/a/7?n=a%20%22b%22%2F%C3%BC",
            ),
            ("${id}: ${name}", Within::Text, "7: a \"b\"/ü"),
            (
                r#"{"id": "${id}", "n": "${name}", "zip": "${zip}", "t": "${tags}", "c": "${code}"}"#,
                Within::Json,
                r#"{"id": 7, "n": "a \"b\"/ü", "zip": "007", "t": ["x",1], "c": "9"}"#,
            ),
            (
                r#"{"n": "Mr ${name}", "q": "\"${id}\""}"#,
                Within::Json,
                r#"{"n": "Mr a \"b\"/ü", "q": "\"7\""}"#,
            ),
            ("no $ {x}", Within::Text, "no $ {x}"),
        ] {
            assert_eq!(filled(text, &row(), within).unwrap(), expected);
        }
    }

    #[test]
    fn a_placeholder_without_a_column_is_refused_with_the_line() {
        let fault = filled("${ids}", &row(), Within::Text).unwrap_err();
        assert_eq!(
            fault.message,
            "data: a.csv, line 2: there is no column \"ids\""
        );
        assert_eq!(fault.remedy, "columns are id, name, zip, tags, code");
        assert!(filled("${id", &row(), Within::Text).is_err());
    }
}
