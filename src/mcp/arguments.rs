//! Holds the arguments of a call against the tool's own input schema, so that every refusal has one shape and
//! names the argument, its value and what would be right.

use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

use crate::error::{Error, Result};

/// The most characters of a value that a message repeats.
const SHOWN: usize = 80;

/// Checks `arguments` against `schema` and reads them.
///
/// # Errors
///
/// [`Error::BadArgument`] names the first argument that does not fit.
pub(super) fn read<T: DeserializeOwned>(schema: &JsonObject, mut arguments: JsonObject) -> Result<T> {
    check_object(schema, &mut arguments)?;
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Error::BadArgument(format!("the arguments do not fit: {error}")))
}

fn check_object(schema: &JsonObject, arguments: &mut JsonObject) -> Result<()> {
    let none = JsonObject::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    for (name, value) in arguments.iter_mut() {
        match properties.get(name).and_then(Value::as_object) {
            Some(property) => check(property, name, value)?,
            None => return Err(unknown(name, properties)),
        }
    }
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !arguments.contains_key(name) {
            return Err(Error::BadArgument(format!("`{name}` is missing")));
        }
    }
    Ok(())
}

fn unknown(name: &str, properties: &JsonObject) -> Error {
    let shown: String = name.chars().take(SHOWN).collect();
    let valid: Vec<&str> = properties.keys().map(String::as_str).collect();
    Error::BadArgument(if valid.is_empty() {
        format!("unknown argument `{shown}`; this tool takes none")
    } else {
        format!("unknown argument `{shown}`; valid ones: {}", valid.join(", "))
    })
}

/// Checks one value; a whole number that was written as `5.0` becomes `5` where an integer is wanted.
fn check(schema: &JsonObject, path: &str, value: &mut Value) -> Result<()> {
    let refuse =
        |value: &Value| Err(Error::BadArgument(format!("`{path}` must be {}, not {}", describe(schema), shown(value))));
    if let Some(Value::Array(choices)) = schema.get("anyOf") {
        let fitting = choices.iter().filter_map(Value::as_object).find(|choice| has_type(choice, value));
        return match fitting {
            Some(choice) => check(choice, path, value),
            None => refuse(value),
        };
    }
    if !has_type(schema, value) {
        return refuse(value);
    }
    if let Some(Value::Array(allowed)) = schema.get("enum")
        && !allowed.contains(value)
    {
        return refuse(value);
    }
    match value {
        Value::Array(items) => {
            if let Some(Value::Object(item)) = schema.get("items") {
                for (index, value) in items.iter_mut().enumerate() {
                    check(item, &format!("{path}[{index}]"), value)?;
                }
            }
        }
        Value::Object(members) => {
            if let Some(Value::Object(member)) = schema.get("additionalProperties") {
                for (name, value) in members.iter_mut() {
                    let name: String = name.chars().take(SHOWN).collect();
                    check(member, &format!("{path}.{name}"), value)?;
                }
            }
        }
        Value::Number(number) => {
            if !within(schema, number) {
                return refuse(value);
            }
            if let Some(whole) = is(schema, "integer").then(|| as_integer(number)).flatten() {
                *number = whole;
            }
        }
        _ => {}
    }
    Ok(())
}

fn is(schema: &JsonObject, kind: &str) -> bool {
    schema.get("type").and_then(Value::as_str) == Some(kind)
}

fn has_type(schema: &JsonObject, value: &Value) -> bool {
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("number") => value.is_number(),
        Some("integer") => value.as_number().is_some_and(|number| as_integer(number).is_some()),
        _ => true,
    }
}

fn as_integer(number: &Number) -> Option<Number> {
    if number.is_i64() {
        return Some(number.clone());
    }
    let float = number.as_f64()?;
    // Within this bound a float that is whole is exact.
    (float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0).then(|| Number::from(float as i64))
}

fn within(schema: &JsonObject, number: &Number) -> bool {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let Some(value) = number.as_f64() else {
        return false;
    };
    bound("minimum").is_none_or(|least| value >= least) && bound("maximum").is_none_or(|most| value <= most)
}

/// Says in words what a schema wants.
fn describe(schema: &JsonObject) -> String {
    if let Some(Value::Array(choices)) = schema.get("anyOf") {
        let words: Vec<String> = choices.iter().filter_map(Value::as_object).map(describe).collect();
        return words.join(" or ");
    }
    if let Some(Value::Array(allowed)) = schema.get("enum") {
        let words: Vec<String> = allowed.iter().map(Value::to_string).collect();
        return format!("one of {}", words.join(", "));
    }
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or("a value");
    let plural = |key: &str| match schema.get(key).and_then(|item| item.get("type")) {
        Some(Value::String(kind)) => format!(" of {kind}s"),
        _ => String::new(),
    };
    let bounds = match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" of at least {least}"),
        (None, Some(most)) => format!(" of at most {most}"),
        (None, None) => String::new(),
    };
    match kind {
        "null" => "null".to_owned(),
        "array" => format!("an array{}", plural("items")),
        "object" => format!("an object{}", plural("additionalProperties")),
        "integer" => format!("an integer{bounds}"),
        other => format!("a {other}{bounds}"),
    }
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::Array(items) if items.len() > 8 => format!("an array of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    };
    if text.chars().count() <= SHOWN {
        return text;
    }
    let start: String = text.chars().take(SHOWN).collect();
    format!("{start}... ({} bytes)", text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> JsonObject {
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "name": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
                "list": { "anyOf": [{ "type": "array", "items": { "type": "string" } }, { "type": "null" }] },
                "flag": { "type": "boolean" },
                "seconds": { "type": "number" },
                "rows": { "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 500 }, { "type": "null" }] },
                "env": { "type": "object", "additionalProperties": { "type": "string" } },
                "kind": { "type": "string", "enum": ["pty", "tmux"] },
            },
            "required": ["flag"],
        });
        schema.as_object().unwrap().clone()
    }

    fn refusal(arguments: Value) -> String {
        let object = arguments.as_object().unwrap().clone();
        let error = read::<Value>(&schema(), object).unwrap_err();
        assert_eq!(error.kind(), "bad_argument");
        error.to_string()
    }

    #[test]
    fn a_refusal_names_the_argument_the_value_and_what_is_right() {
        let cases = [
            (json!({ "flag": 1 }), "`flag` must be a boolean, not 1"),
            (json!({ "flag": true, "name": 7 }), "`name` must be a string or null, not 7"),
            (json!({ "flag": true, "list": "x" }), "`list` must be an array of strings or null, not \"x\""),
            (json!({ "flag": true, "list": ["x", 5] }), "`list[1]` must be a string, not 5"),
            (json!({ "flag": true, "seconds": "soon" }), "`seconds` must be a number, not \"soon\""),
            (json!({ "flag": true, "seconds": null }), "`seconds` must be a number, not null"),
            (json!({ "flag": true, "rows": 0 }), "`rows` must be an integer from 1 to 500, not 0"),
            (json!({ "flag": true, "rows": 2.5 }), "`rows` must be an integer from 1 to 500 or null, not 2.5"),
            (json!({ "flag": true, "env": { "A": 1 } }), "`env.A` must be a string, not 1"),
            (json!({ "flag": true, "kind": "ssh" }), "`kind` must be one of \"pty\", \"tmux\", not \"ssh\""),
            (json!({}), "`flag` is missing"),
            (json!({ "flag": true, "wait": 1 }), "unknown argument `wait`; valid ones: env, flag"),
        ];
        for (arguments, message) in cases {
            let said = refusal(arguments.clone());
            assert!(said.starts_with(message), "{arguments}: {said}");
        }
    }

    #[test]
    fn a_long_value_is_not_repeated_whole() {
        let said = refusal(json!({ "flag": "x".repeat(1_000_000) }));
        assert!(said.len() < 200, "{}", said.len());
        assert!(said.contains("1000002 bytes"), "{said}");
    }

    #[test]
    fn a_whole_number_is_an_integer_however_it_is_written() {
        let arguments = json!({ "flag": true, "rows": 24.0 }).as_object().unwrap().clone();
        let value: Value = read(&schema(), arguments).unwrap();
        assert_eq!(value["rows"], json!(24));
        assert!(value["rows"].is_i64());
    }
}
