//! The load engine of wirelab, with a validator of JSON Schema.

use std::process::ExitCode;

use serde_json::Value;
use wirelab_load::json_schema::{self, Schema, Violation};

fn main() -> ExitCode {
    json_schema::provide(compile);
    wirelab_engine::main()
}

#[derive(Debug)]
struct Validator(jsonschema::Validator);

fn compile(schema: &Value) -> Result<Box<dyn Schema>, String> {
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
