//! `describe`: the methods of a .proto, a descriptor set or a running server, as JSON.

mod examples;
pub(crate) mod reflection;

use std::io::{self, Write};
use std::process::ExitCode;

use base64::Engine as _;
use prost_reflect::{DescriptorPool, MethodDescriptor, ServiceDescriptor};
use serde::Serialize;
use wirelab_contract::print_error;
use wirelab_load::result::Fault;

use crate::proto;

/// What is described.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A .proto file, or a descriptor set as protoc, buf and grpcurl write it.
    #[arg(required_unless_present = "reflect", conflicts_with = "reflect")]
    file: Option<String>,
    /// A folder of files that it imports.
    #[arg(long, value_name = "FOLDER")]
    import: Vec<String>,
    /// Prints the file and its imports as a descriptor set, without methods and their examples.
    #[arg(long, conflicts_with = "reflect")]
    descriptors: bool,
    /// A server with reflection, without TLS: host and port.
    #[arg(long, value_name = "HOST:PORT")]
    reflect: Option<String>,
}

/// One line on standard output.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Described(Description),
    Error(Fault),
}

#[derive(Serialize)]
struct Description {
    services: Vec<Service>,
    /// The files, as a descriptor set in base64; of a file only with `--descriptors`.
    #[serde(skip_serializing_if = "Option::is_none")]
    descriptor_set: Option<String>,
}

#[derive(Serialize)]
struct Service {
    name: String,
    methods: Vec<Method>,
}

#[derive(Serialize)]
struct Method {
    name: String,
    /// Whether the client sends a stream, which is more than one request.
    streams: bool,
    /// A request with every field set, as proto3 JSON.
    example: serde_json::Value,
    /// Fields of the example that have no value.
    left_out: Vec<String>,
}

/// Prints the description, or why there is none.
pub(crate) fn describe(arguments: &Arguments) -> ExitCode {
    let (answer, code) = match description(arguments) {
        Ok(description) => (Answer::Described(description), 0),
        Err(fault) => {
            print_error!("wirelab-engine: {}; {}", fault.message, fault.remedy);
            let code = fault.exit_code();
            (Answer::Error(fault), code)
        }
    };
    match print(&answer) {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            print_error!("wirelab-engine: standard output: {error}");
            ExitCode::from(3)
        }
    }
}

fn print(answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    io::stdout().lock().write_all(&line)
}

fn description(arguments: &Arguments) -> Result<Description, Fault> {
    if let Some(address) = &arguments.reflect {
        let pool = reflection::fetch(address)?;
        return describe_pool(&pool, Some(encode(&pool)));
    }
    // clap demands one of the two.
    let file = arguments.file.as_deref().unwrap_or_default();
    let pool = proto::compile(file, &arguments.import)?;
    if arguments.descriptors {
        return Ok(Description {
            services: Vec::new(),
            descriptor_set: Some(encode(&pool)),
        });
    }
    describe_pool(&pool, None)
}

fn encode(pool: &DescriptorPool) -> String {
    base64::engine::general_purpose::STANDARD.encode(pool.encode_to_vec())
}

fn describe_pool(pool: &DescriptorPool, set: Option<String>) -> Result<Description, Fault> {
    let services = pool.services().map(|service| of_service(&service));
    Ok(Description {
        services: services.collect::<Result<_, _>>()?,
        descriptor_set: set,
    })
}

fn of_service(service: &ServiceDescriptor) -> Result<Service, Fault> {
    Ok(Service {
        name: service.full_name().to_owned(),
        methods: service
            .methods()
            .map(|m| of_method(&m))
            .collect::<Result<_, _>>()?,
    })
}

fn of_method(method: &MethodDescriptor) -> Result<Method, Fault> {
    let example = examples::request(&method.input())
        .map_err(|error| proto::refused(format!("{}: {error}", method.full_name()), ""))?;
    Ok(Method {
        name: method.name().to_owned(),
        streams: method.is_client_streaming(),
        example: example.value,
        left_out: example.left_out,
    })
}
