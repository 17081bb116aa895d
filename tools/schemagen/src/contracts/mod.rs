//! Derived schemas: XSD, WSDL, CORBA IDL, Avro schemas and OpenAPI from a contract's `.proto`.
//!
//! The tables of contracts/README.md decide what each definition becomes. A
//! contract is read once into the lab profile ([`profile`]), where all that not
//! every format can say has been refused by name; one file here writes each
//! format from it. The output is the same for the same source, and committed.

mod avro;
mod comments;
mod idl;
mod json;
mod lines;
mod markup;
mod names;
mod openapi;
mod profile;
mod reading;
mod refused;
mod style;
mod wsdl;
mod xsd;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use refused::Refused;
use style::Style;
use wirelab_contract::print_error;

/// What to read, and where to write.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The contracts.
    #[arg(required = true, value_name = "FILE.proto")]
    files: Vec<PathBuf>,
    /// The folder that gets xsd/, wsdl/, idl/, avro/ and openapi/.
    #[arg(long, default_value = "contracts")]
    into: PathBuf,
}

/// Writes every schema of every contract. Exit code 2: a contract is outside the profile.
pub(crate) fn write(arguments: &Arguments) -> ExitCode {
    let written = arguments
        .files
        .iter()
        .try_for_each(|file| write_all(file, &arguments.into));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error!("schemagen: {error:#}");
            ExitCode::from(if error.is::<Refused>() { 2 } else { 3 })
        }
    }
}

fn write_all(file: &Path, into: &Path) -> anyhow::Result<()> {
    for (path, text) in schemas(file)? {
        let path = into.join(path);
        let folder = path.parent().unwrap_or(into);
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// All schemas of a contract, with their paths.
fn schemas(file: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let contract = reading::read(file)?;
    let name = &contract.name;
    if contract.known() == Some(wirelab_contract::Contract::Petclinic) {
        // SOAP's rpc styles have no form for its lists within lists here: it is served over
        // REST and gRPC only (contracts/README.md, petclinic).
        let openapi = openapi::write(&contract)?;
        return Ok(vec![(format!("openapi/{name}.json"), openapi)]);
    }
    if contract.known() == Some(wirelab_contract::Contract::Stream) {
        // None of these formats describes when the messages of a stream are due, or has streams at
        // all: it is served over REST, SSE and gRPC only (contracts/README.md, stream).
        return Ok(Vec::new());
    }
    names::accept(&contract)?;
    Ok(vec![
        (format!("xsd/{name}.xsd"), xsd::document(&contract)),
        (format!("xsd/{name}-rpc.xsd"), xsd::rpc(&contract)),
        (
            format!("wsdl/{name}.wsdl"),
            wsdl::write(&contract, Style::Document),
        ),
        (
            format!("wsdl/{name}-rpc.wsdl"),
            wsdl::write(&contract, Style::Rpc),
        ),
        (
            format!("wsdl/{name}-encoded.wsdl"),
            wsdl::write(&contract, Style::Encoded),
        ),
        (format!("idl/{name}.idl"), idl::write(&contract)),
        (format!("avro/{name}.avsc"), avro::write(&contract)?),
        (format!("openapi/{name}.json"), openapi::write(&contract)?),
    ])
}
