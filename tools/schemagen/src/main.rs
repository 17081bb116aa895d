//! Writes the generated documents of the repository: JSON Schemas of what processes exchange,
//! the tables of stacks, and XSD, WSDL, CORBA IDL, Avro schemas and OpenAPI of the contracts.
//!
//! `make generate` calls it. Exit codes: 0 done, 2 a contract is outside the profile, 3 a file
//! could not be read or written.

mod contracts;
mod process;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use wirelab_contract::print_error;

#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Write the JSON Schemas of the documents that processes exchange into a folder.
    Process {
        /// The folder.
        folder: PathBuf,
    },
    /// Write bindings, codecs, axes and rules (`stack.json`).
    Stack {
        /// The file.
        file: PathBuf,
    },
    /// Write XSD, WSDL, CORBA IDL, Avro schemas and OpenAPI of contracts.
    Contracts(contracts::Arguments),
}

fn main() -> ExitCode {
    match Arguments::parse().verb {
        Verb::Process { folder } => process::write(&folder),
        Verb::Stack { file } => write_stack(&file),
        Verb::Contracts(arguments) => contracts::write(&arguments),
    }
}

fn write_stack(file: &Path) -> ExitCode {
    let document = serde_json::to_string_pretty(&wirelab_stack::document());
    let written = document
        .map_err(std::io::Error::from)
        .and_then(|text| fs::write(file, text + "\n"));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error!("schemagen: {}: {error}", file.display());
            ExitCode::from(3)
        }
    }
}
