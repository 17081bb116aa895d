//! Rows of values, read from a file or made at random, once before the load.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use serde_json::{Map, Value};
use wirelab_contract::texts::SplitMix64;

use crate::call::fault;
use crate::call::result::Fault;
use crate::plan::{RandomValue, Rows};

/// Bytes of a file at most.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Bytes that the requests of all rows may take.
pub(crate) const ROW_BYTES_MAX: usize = 256 << 20;

/// Rows at most.
const ROWS_MAX: usize = 1_000_000;

/// Bytes of all random texts at most.
const TEXT_BYTES_MAX: u64 = 64 << 20;

/// One row.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Row {
    /// Where it begins: `owners.csv, line 3`.
    pub(crate) place: String,
    /// Values by column, in the order of the columns.
    pub(crate) values: Vec<(Arc<str>, Cell)>,
}

/// A value as it was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// Text of CSV: its type is that of the field.
    Text(String),
    Json(Value),
}

impl Cell {
    /// The value for a field that now holds `like`. What does not fit stays text, for the
    /// field to refuse.
    pub(crate) fn value(&self, like: &Value) -> Value {
        let text = match self {
            Cell::Text(text) => text,
            Cell::Json(value) => return value.clone(),
        };
        let read = match like {
            Value::String(_) => None,
            _ => serde_json::from_str::<Value>(text.trim()).ok(),
        };
        read.unwrap_or_else(|| Value::String(text.clone()))
    }
}

/// The rows, of which there is at least one.
///
/// # Errors
/// A fault of the plan that names the file and the line.
pub(crate) fn read(rows: &Rows) -> Result<Vec<Row>, Fault> {
    let rows = match rows {
        Rows::File { path } => from_file(path)?,
        Rows::Lines { path } => match from_lines(path, &read_text(path)?) {
            rows if rows.is_empty() => {
                return refuse(
                    format!("data: {path}: every line is empty"),
                    "write one message per line",
                );
            }
            rows => rows,
        },
        Rows::Random {
            count,
            seed,
            fields,
        } => {
            let fields: Vec<(&String, &RandomValue)> = fields.iter().collect();
            random(*count, *seed, &fields)?
        }
    };
    match rows.len() {
        0 => refuse("data: there are no rows".into(), "give at least one row"),
        1..=ROWS_MAX => Ok(rows),
        count => refuse(format!("data: {count} rows"), "use at most 1,000,000 rows"),
    }
}

fn refuse<T>(message: String, remedy: &str) -> Result<T, Fault> {
    Err(fault::plan(message, remedy))
}

fn read_text(path: &str) -> Result<String, Fault> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| {
        // One byte more than is allowed, to see that there is more.
        file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)
    });
    read.map_err(|error| {
        fault::plan(
            format!("data: {path}: {error}"),
            "name a file in UTF-8 that can be read",
        )
    })?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return refuse(
            format!("data: {path}: more than 64 MiB"),
            "use a smaller file: rows are taken again after the last",
        );
    }
    let mark = '\u{feff}';
    Ok(match text.strip_prefix(mark) {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

fn from_lines(path: &str, text: &str) -> Vec<Row> {
    let name: Arc<str> = "line".into();
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty());
    let rows = lines.map(|(at, line)| Row {
        place: format!("{path}, line {}", at + 1),
        values: vec![(Arc::clone(&name), Cell::Text(line.to_owned()))],
    });
    rows.collect()
}

fn from_file(path: &str) -> Result<Vec<Row>, Fault> {
    let text = read_text(path)?;
    let rows = match path.rsplit_once('.') {
        Some((_, "csv")) => from_csv(path, &text)?,
        Some((_, "jsonl")) => from_json_lines(path, &text)?,
        _ => {
            return refuse(
                format!("data: {path}: neither .csv nor .jsonl"),
                "name the file by what it holds",
            );
        }
    };
    match rows.is_empty() {
        true => refuse(
            format!("data: {path}: there are no rows"),
            "give at least one row, in CSV below the line that names the fields",
        ),
        false => Ok(rows),
    }
}

fn from_json_lines(path: &str, text: &str) -> Result<Vec<Row>, Fault> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let rows = lines.map(|(at, line)| {
        let place = format!("{path}, line {}", at + 1);
        let object: Map<String, Value> = serde_json::from_str(line).map_err(|error| {
            fault::plan(
                format!("data: {place}: {error}"),
                "write one JSON object per line, its names those of the request's fields",
            )
        })?;
        let values = object.into_iter();
        let values = values.map(|(name, value)| (Arc::from(name), Cell::Json(value)));
        Ok(Row {
            place,
            values: values.collect(),
        })
    });
    rows.collect()
}

fn from_csv(path: &str, text: &str) -> Result<Vec<Row>, Fault> {
    let mut records = Records {
        path,
        rest: text,
        line: 1,
    };
    let Some((_, names)) = records.next_record()? else {
        return Ok(Vec::new());
    };
    let names: Vec<Arc<str>> = names.into_iter().map(Arc::from).collect();
    let mut rows = Vec::new();
    while let Some((line, cells)) = records.next_record()? {
        if cells.len() != names.len() {
            let (found, expected) = (cells.len(), names.len());
            return refuse(
                format!("data: {path}, line {line}: {found} values for {expected} fields"),
                "give a value for each field that the first line names",
            );
        }
        let cells = cells.into_iter().map(Cell::Text);
        rows.push(Row {
            place: format!("{path}, line {line}"),
            values: names.iter().cloned().zip(cells).collect(),
        });
    }
    Ok(rows)
}

/// Records of CSV (RFC 4180): quotes around cells that hold commas, quotes or line ends;
/// quotes doubled within. Empty lines are passed over.
struct Records<'a> {
    path: &'a str,
    rest: &'a str,
    line: usize,
}

impl Records<'_> {
    /// The next record and the line where it begins.
    fn next_record(&mut self) -> Result<Option<(usize, Vec<String>)>, Fault> {
        while let Some(rest) = self.line_end(self.rest) {
            (self.rest, self.line) = (rest, self.line + 1);
        }
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (begin, mut cells) = (self.line, Vec::new());
        loop {
            cells.push(self.cell()?);
            if let Some(rest) = self.rest.strip_prefix(',') {
                self.rest = rest;
            } else if let Some(rest) = self.line_end(self.rest) {
                (self.rest, self.line) = (rest, self.line + 1);
                return Ok(Some((begin, cells)));
            } else if self.rest.is_empty() {
                return Ok(Some((begin, cells)));
            } else {
                return refuse(
                    format!(
                        "data: {}, line {}: text after a quote",
                        self.path, self.line
                    ),
                    "double each quote within a value in quotes",
                );
            }
        }
    }

    /// What comes after the line end that `text` begins with.
    fn line_end<'t>(&self, text: &'t str) -> Option<&'t str> {
        text.strip_prefix("\r\n").or(text.strip_prefix('\n'))
    }

    fn cell(&mut self) -> Result<String, Fault> {
        let Some(quoted) = self.rest.strip_prefix('"') else {
            let end = self.rest.find([',', '\r', '\n']);
            let (cell, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            self.rest = rest;
            return Ok(cell.to_owned());
        };
        let (mut cell, mut rest) = (String::new(), quoted);
        loop {
            let Some((part, after)) = rest.split_once('"') else {
                return refuse(
                    format!(
                        "data: {}, line {}: a quote is not closed",
                        self.path, self.line
                    ),
                    "close the quote",
                );
            };
            cell.push_str(part);
            match after.strip_prefix('"') {
                Some(after) => {
                    cell.push('"');
                    rest = after;
                }
                None => {
                    self.rest = after;
                    self.line += cell.matches('\n').count();
                    return Ok(cell);
                }
            }
        }
    }
}

fn random(count: u32, seed: u64, fields: &[(&String, &RandomValue)]) -> Result<Vec<Row>, Fault> {
    let mut text_bytes = 0;
    for (name, values) in fields {
        let legal = match values {
            RandomValue::Integer { min, max } => min <= max,
            RandomValue::Text { length } => {
                text_bytes += u64::from(*length) * u64::from(count);
                *length <= 65_536
            }
            RandomValue::Choice { values } => !values.is_empty(),
        };
        if !legal {
            return refuse(
                format!("data: field {name}: there is no such value"),
                "use min up to max, a length of at most 65,536, at least one value",
            );
        }
    }
    if fields.is_empty() || count as usize > ROWS_MAX || text_bytes > TEXT_BYTES_MAX {
        return refuse(
            format!("data: {count} random rows of {} fields", fields.len()),
            "use at least one field, at most 1,000,000 rows and 64 MiB of text",
        );
    }
    let named = fields
        .iter()
        .map(|(name, values)| (Arc::from(name.as_str()), *values));
    let fields: Vec<(Arc<str>, &RandomValue)> = named.collect();
    let mut random = SplitMix64::new(seed);
    let rows = (1..=count).map(|number| Row {
        place: format!("random row {number}"),
        values: fields
            .iter()
            .map(|(name, values)| (Arc::clone(name), Cell::Json(draw(values, &mut random))))
            .collect(),
    });
    Ok(rows.collect())
}

fn draw(values: &RandomValue, random: &mut SplitMix64) -> Value {
    match values {
        RandomValue::Integer { min, max } => {
            let count = (i128::from(*max) - i128::from(*min) + 1) as u128;
            // The bias of a product with 64 random bits is below 2^-64 of the range.
            let above = ((u128::from(random.next_u64()) * count) >> 64) as i128;
            Value::from((i128::from(*min) + above) as i64)
        }
        RandomValue::Text { length } => {
            let letter = |_| char::from(b'a' + (random.next_u64() % 26) as u8);
            Value::String((0..*length).map(letter).collect())
        }
        RandomValue::Choice { values } => {
            values[(random.next_u64() % values.len() as u64) as usize].clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn csv(text: &str) -> Result<Vec<Row>, Fault> {
        from_csv("a.csv", text)
    }

    fn texts(row: &Row) -> Vec<(&str, &str)> {
        let values = row.values.iter();
        let texts = values.map(|(name, cell)| match cell {
            Cell::Text(text) => (&**name, text.as_str()),
            Cell::Json(value) => panic!("{value}"),
        });
        texts.collect()
    }

    #[test]
    fn csv_is_read_as_rfc_4180_writes_it() {
        let rows = csv("id,name\r\n1,\"a, \"\"b\"\"\nc\"\n\n2,\r\n3,x").unwrap();
        let read: Vec<_> = rows.iter().map(texts).collect();
        assert_eq!(
            read,
            [
                [("id", "1"), ("name", "a, \"b\"\nc")],
                [("id", "2"), ("name", "")],
                [("id", "3"), ("name", "x")],
            ]
        );
        let places: Vec<_> = rows.iter().map(|row| row.place.as_str()).collect();
        assert_eq!(places, ["a.csv, line 2", "a.csv, line 5", "a.csv, line 6"]);
        assert_eq!(csv("id,name\n").unwrap(), []);
        assert_eq!(csv("").unwrap(), []);
    }

    #[test]
    fn a_fault_is_named_with_its_line() {
        for (text, words) in [
            ("a,b\n1,2\n3", "a.csv, line 3: 1 values for 2 fields"),
            ("a\n1,2", "line 2: 2 values for 1 fields"),
            ("a\n\"1\"2", "line 2: text after a quote"),
            ("a\n1\n\"2", "line 3: a quote is not closed"),
        ] {
            let fault = csv(text).unwrap_err();
            assert!(fault.message.contains(words), "{}", fault.message);
        }
        let fault = from_json_lines("a.jsonl", "{\"id\":1}\n\n[1]").unwrap_err();
        assert!(
            fault.message.contains("a.jsonl, line 3"),
            "{}",
            fault.message
        );
        for (path, words) in [
            ("/nonexistent.csv", "No such file"),
            ("/etc/hostname", "neither .csv nor .jsonl"),
        ] {
            let fault = from_file(path).unwrap_err();
            assert!(fault.message.contains(words), "{}", fault.message);
        }
    }

    #[test]
    fn a_cell_of_csv_has_the_type_of_its_field() {
        let value = |text: &str, like| Cell::Text(text.into()).value(&like);
        assert_eq!(value("007", json!("")), json!("007"));
        assert_eq!(value("7", json!(0)), json!(7));
        assert_eq!(value("-2.5", json!(0.0)), json!(-2.5));
        assert_eq!(value("true", json!(false)), json!(true));
        assert_eq!(value("x", json!(0)), json!("x"));
    }

    #[test]
    fn random_values_keep_their_bounds_and_a_seed_repeats_them() {
        let integer = |min, max| RandomValue::Integer { min, max };
        let fields = BTreeMap::from([
            ("die".to_owned(), integer(1, 6)),
            ("all".to_owned(), integer(i64::MIN, i64::MAX)),
            ("text".to_owned(), RandomValue::Text { length: 5 }),
        ]);
        let rows = |seed| {
            read(&Rows::Random {
                count: 6_000,
                seed,
                fields: fields.clone(),
            })
            .unwrap()
        };
        let made = rows(1);
        assert_eq!(made, rows(1));
        assert_ne!(made, rows(2));
        let mut dice = [0_i64; 7];
        for row in &made {
            let Cell::Json(Value::Number(die)) = &row.values[1].1 else {
                panic!("{row:?}");
            };
            dice[die.as_i64().unwrap() as usize] += 1;
        }
        // Five standard deviations of 6,000 throws.
        assert!(dice[1..].iter().all(|count| (count - 1_000).abs() < 145));
        assert_eq!(dice[0], 0);
        let refused = read(&Rows::Random {
            count: 1,
            seed: 0,
            fields: BTreeMap::from([("die".to_owned(), integer(6, 1))]),
        });
        assert!(refused.unwrap_err().message.contains("field die"));
    }
}
