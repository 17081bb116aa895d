//! The JSON Schema of a point of the axis table.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::axes::{Axis, TABLE, Unit};
use crate::axis_map::AxisMap;
use crate::bindings::Binding;

impl JsonSchema for AxisMap {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        // Not its own name: a stack is written as its axes, so both have one schema.
        "Stack".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut properties = Map::new();
        let bindings = json!({
            "description": "How the contract is spoken.", "type": "string", "enum": Binding::NAMES,
        });
        properties.insert("binding".to_owned(), bindings);
        for axis in TABLE {
            properties.insert(axis.name.to_owned(), axis_schema(axis));
        }
        json_schema!({
            "description": "A point of the axis table; axes that are left out have their default.",
            "type": "object",
            "properties": properties,
            "required": ["binding"],
            // A misspelt axis would otherwise leave the true one at its default without
            // notice.
            "additionalProperties": false,
        })
    }
}

fn axis_schema(axis: &Axis) -> Value {
    // A pattern of JSON Schema cannot state a range. `set` checks it when the map is
    // read.
    let mut patterns: Vec<String> = axis.names.iter().map(|word| escape(word)).collect();
    patterns.extend(axis.counted.iter().map(|word| format!("{word}=[0-9]+")));
    match axis.number.map(|number| number.unit) {
        Some(Unit::Percent) => patterns.push("[0-9]+%".to_owned()),
        Some(_) => patterns.push("[0-9]+".to_owned()),
        None => {}
    }
    if axis.counted.is_empty() && axis.number.is_none() {
        // An enum, where one suffices: editors complete its values.
        return json!({"description": axis.about, "type": "string", "enum": axis.names});
    }
    let pattern = format!("^({})$", patterns.join("|"));
    json!({"description": axis.about, "type": "string", "pattern": pattern})
}

fn escape(word: &str) -> String {
    // The only two characters of the table's words that mean something else in a pattern.
    word.replace('.', "\\.").replace('+', "\\+")
}
