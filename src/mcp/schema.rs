//! JSON Schemas of arguments and outputs, in the plain words that every client knows.

use std::sync::Arc;

use rmcp::handler::server::tool::{schema_for_output, schema_for_type};
use rmcp::model::JsonObject;
use rmcp::schemars::JsonSchema;
use serde_json::{Value, json};

/// The schema of what a tool takes: closed, every default stated.
pub(super) fn input<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    let mut schema = tidied(&schema_for_type::<T>());
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    schema.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    Arc::new(schema)
}

/// The schema of what a tool gives: every field is always there.
pub(super) fn output<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    Arc::new(tidied(&schema_for_output::<T>()))
}

/// The schema of an output whose fields with a default are not promised (`wait_for_text`, as published).
pub(super) fn output_with_defaults<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    Arc::new(tidied(&schema_for_type::<T>()))
}

fn tidied(schema: &JsonObject) -> JsonObject {
    let mut schema = schema.clone();
    for key in ["$schema", "title", "description"] {
        schema.remove(key);
    }
    tidy(&mut schema);
    schema
}

/// Rewrites a schema in place: no `format` that JSON Schema does not define, no bounds that only repeat a Rust type, `anyOf` for
/// what may be null, whole numbers without a fraction.
fn tidy(schema: &mut JsonObject) {
    if is_numeric(schema) {
        schema.remove("format");
        if schema.get("minimum").and_then(Value::as_f64) == Some(0.0) {
            schema.remove("minimum");
        }
    }
    if let Some(default) = schema.get_mut("default") {
        if default.as_array().is_some_and(Vec::is_empty) {
            schema.remove("default");
        } else if let Some(whole) = as_whole(default) {
            *default = json!(whole);
        }
    }
    split_null(schema);
    for key in ["properties", "$defs"] {
        if let Some(Value::Object(members)) = schema.get_mut(key) {
            members.values_mut().filter_map(Value::as_object_mut).for_each(tidy);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(Value::Object(member)) = schema.get_mut(key) {
            tidy(member);
        }
    }
    if let Some(Value::Array(members)) = schema.get_mut("anyOf") {
        members.iter_mut().filter_map(Value::as_object_mut).for_each(tidy);
    }
}

fn is_numeric(schema: &JsonObject) -> bool {
    let numeric = |kind: &Value| matches!(kind.as_str(), Some("integer" | "number"));
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(numeric),
        Some(kind) => numeric(kind),
        None => false,
    }
}

fn as_whole(value: &Value) -> Option<i64> {
    let float = value.as_f64().filter(|_| value.is_f64())?;
    // Defaults are small; the bound keeps the conversion exact.
    (float.fract() == 0.0 && float.abs() < 1e9).then_some(float as i64)
}

/// Turns `"type": ["string", "null"]` into `"anyOf": [{"type": "string"}, {"type": "null"}]`.
fn split_null(schema: &mut JsonObject) {
    let Some(Value::Array(kinds)) = schema.get("type") else {
        return;
    };
    let Some(kind) = kinds.iter().find(|kind| kind.as_str() != Some("null")).cloned() else {
        return;
    };
    schema.remove("type");
    let mut member = JsonObject::new();
    member.insert("type".to_owned(), kind);
    for key in ["items", "additionalProperties", "minimum", "maximum", "enum"] {
        if let Some(value) = schema.remove(key) {
            member.insert(key.to_owned(), value);
        }
    }
    schema.insert("anyOf".to_owned(), json!([member, { "type": "null" }]));
}
