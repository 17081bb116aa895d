//! Writes the JSON Schemas of the documents that processes exchange.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use schemars::schema_for;
use wirelab_contract::print_error;
use wirelab_engine::documents::{Config, Document, HostConfig, HostLine, Line};
use wirelab_link::{LinkConfig, LinkEnded};
use wirelab_load::caller::CallerEvent;
use wirelab_load::plan::Plan;
use wirelab_load::result::Event;
use wirelab_services::{CodecTimes, Ready, ServiceConfig};
use wirelab_trace::hops::Hops;
use wirelab_trace::output::Dissection;

pub(crate) fn write(folder: &Path) -> ExitCode {
    let documents = [
        ("plan", schema_for!(Plan)),
        ("event", schema_for!(Event)),
        ("caller-event", schema_for!(CallerEvent)),
        ("service-config", schema_for!(ServiceConfig)),
        ("service-ready", schema_for!(Ready)),
        ("codec-times", schema_for!(CodecTimes)),
        ("capture", schema_for!(Config)),
        ("capture-line", schema_for!(Line)),
        ("host", schema_for!(HostConfig)),
        ("host-line", schema_for!(HostLine)),
        ("link", schema_for!(LinkConfig)),
        ("link-ready", schema_for!(wirelab_link::Ready)),
        ("link-ended", schema_for!(LinkEnded)),
        ("verify", schema_for!(Document)),
        ("dissection", schema_for!(Dissection)),
        ("hops", schema_for!(Hops)),
    ];
    let written = fs::create_dir_all(folder).and_then(|()| {
        documents.iter().try_for_each(|(name, schema)| {
            let mut text = serde_json::to_string_pretty(schema)?;
            text.push('\n');
            fs::write(folder.join(format!("{name}.schema.json")), text)
        })
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error!("schemagen: {}: {error}", folder.display());
            ExitCode::from(3)
        }
    }
}
