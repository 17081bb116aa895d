//! The load engine of wirelab, with JSON Schema and JSONPath.

use std::process::ExitCode;

use serde_json::Value;
use serde_json_path::JsonPath;
use wirelab_load::json_library::{self, JsonLibrary, Path, Schema, Violation};

fn main() -> ExitCode {
    json_library::provide(JsonLibrary {
        compile_schema,
        parse_path,
    });
    wirelab_engine::main()
}

#[derive(Debug)]
struct Validator(jsonschema::Validator);

fn compile_schema(schema: &Value) -> Result<Box<dyn Schema>, String> {
    let validator = jsonschema::validator_for(schema).map_err(|error| error.to_string())?;
    Ok(Box::new(Validator(validator)))
}

impl Schema for Validator {
    fn check(&self, document: &Value) -> Result<(), Violation> {
        self.0.validate(document).map_err(|error| Violation {
            place: error.instance_path().to_string(),
            reason: error.to_string(),
        })
    }
}

#[derive(Debug)]
struct Query(JsonPath);

fn parse_path(path: &str) -> Result<Box<dyn Path>, String> {
    let path = JsonPath::parse(path).map_err(|error| error.to_string())?;
    Ok(Box::new(Query(path)))
}

impl Path for Query {
    fn first<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.0.query(document).first()
    }
}
