//! Times one parser in this process, as docs/reference/parsers.md describes:
//! `wirelab-parse PARSER WARMUP_NS WINDOW_NS BLOCKS NAME=FILE...`. Prints one line of JSON;
//! exit code 2 for wrong arguments, 1 where the parser fails.
//!
//! `wirelab-parse encode NAME JSON` prints a request of charging in every format, as JSON with
//! hexadecimal digits: what python/wirelab/data/parse/messages.json is made of.

mod content;
mod formats;
mod parsers;
#[cfg(test)]
mod tests;
mod timing;
mod xml;

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use wirelab_contract::print_error;

use formats::Format;
use parsers::{Document, Parser};
use timing::Plan;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(command) = Command::parse(&arguments) else {
        print_error!(
            "wirelab-parse: usage: PARSER WARMUP_NS WINDOW_NS BLOCKS NAME=FILE... | encode NAME JSON"
        );
        return ExitCode::from(2);
    };
    match command.run() {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            print_error!("wirelab-parse: {error:#}");
            ExitCode::FAILURE
        }
    }
}

enum Command<'a> {
    Encode(&'a str, &'a str),
    Time(Parser, Plan, Vec<(&'a str, &'a str)>),
}

impl<'a> Command<'a> {
    fn parse(arguments: &'a [String]) -> Option<Self> {
        match arguments {
            [encode, name, json] if encode == "encode" => Some(Self::Encode(name, json)),
            [parser, warmup, window, blocks, documents @ ..] if !documents.is_empty() => {
                let plan = Plan {
                    warmup: Duration::from_nanos(warmup.parse().ok()?),
                    window: Duration::from_nanos(window.parse().ok()?),
                    blocks: blocks.parse().ok().filter(|blocks| *blocks > 0)?,
                };
                let documents = documents
                    .iter()
                    .map(|named| named.split_once('='))
                    .collect::<Option<_>>()?;
                Some(Self::Time(Parser::named(parser)?, plan, documents))
            }
            _ => None,
        }
    }

    fn run(self) -> Result<String> {
        match self {
            Self::Encode(name, json) => encode(name, json),
            Self::Time(parser, plan, named) => {
                let mut documents = Vec::with_capacity(named.len());
                for (name, file) in named {
                    let bytes = std::fs::read(file).with_context(|| file.to_owned())?;
                    documents.push(Document {
                        name: name.to_owned(),
                        bytes,
                    });
                }
                let timed = timing::measure(parser, &documents, &plan)?;
                let mut line = serde_json::to_value(timed)?;
                line["implementation"] = parser.library().into();
                line["library"] = parser.library().into();
                line["runtime"] = "native".into();
                Ok(line.to_string())
            }
        }
    }
}

fn encode(name: &str, json: &str) -> Result<String> {
    let mut line = serde_json::Map::new();
    for (format, named) in [
        (Format::Json, "json"),
        (Format::Protobuf, "protobuf"),
        (Format::Cbor, "cbor"),
        (Format::Cdr, "cdr"),
    ] {
        let mut hex = String::new();
        for byte in formats::encode(format, name, json)? {
            write!(hex, "{byte:02x}")?;
        }
        line.insert(named.to_owned(), hex.into());
    }
    Ok(serde_json::Value::Object(line).to_string())
}
