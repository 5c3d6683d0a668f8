//! Generates `docs/reference/http-api.md` from the OpenAPI document that the API serves.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cellar_api::wire::ProblemKind;
use serde_json::Value;

use super::{assert_page, push_row, push_table_head};

const DOCUMENT: &str = include_str!("../../../runtime/src/api/openapi.json");
const INTRODUCTION: &str = "\
The paths are relative to the URL of the stack. Send the header `Authorization: Bearer TOKEN`, with a token or
the token of a share link. Requests and replies are JSON. Positions are numbers: segment · 2³² + number of the entry.
The position `0.42` is the number 42, and `1.0` is 4294967296. Where a request selects a state, it also takes a
position such as `0.42`, or a time.

The stack serves this API as an OpenAPI document at `/v1/openapi.json`.";

static NULL: Value = Value::Null;

#[test]
fn the_page_of_the_api_is_up_to_date() {
    let document: Value = serde_json::from_str(DOCUMENT).unwrap();
    let mut text = format!("# HTTP API\n\n{INTRODUCTION}\n");
    for (tag, operations) in operations_by_tag(&document) {
        writeln!(text, "\n## {tag}").unwrap();
        for (method, path, operation) in operations {
            push_operation(&mut text, &method, &path, operation);
        }
    }
    push_problems(&mut text);
    push_schemas(&mut text, &document);
    assert_page("http-api.md", "http_api.rs", &text);
}

/// Returns the operations as method, path and definition, by tag.
fn operations_by_tag(document: &Value) -> BTreeMap<String, Vec<(String, String, &Value)>> {
    let mut by_tag: BTreeMap<String, Vec<(String, String, &Value)>> = BTreeMap::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let tag = operation.pointer("/tags/0").unwrap().as_str().unwrap().to_owned();
            let operation = (method.to_uppercase(), path.clone(), operation);
            by_tag.entry(tag).or_default().push(operation);
        }
    }
    assert!(by_tag.len() > 5, "{:?}", by_tag.keys());
    by_tag
}

fn push_operation(text: &mut String, method: &str, path: &str, operation: &Value) {
    writeln!(text, "\n### {method} {path}\n\n{}.", string(&operation["summary"])).unwrap();
    if let Some(description) = operation["description"].as_str() {
        writeln!(text, "\n{}", description.replace('\n', " ")).unwrap();
    }
    let parameters = operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
    // The id parameter is the same in every path.
    let parameters: Vec<&Value> =
        parameters.iter().filter(|parameter| parameter["name"] != "id").collect();
    if !parameters.is_empty() {
        text.push('\n');
        push_table_head(text, &["Parameter", "In", "Type", "Description"]);
    }
    for parameter in parameters {
        let name = match parameter["required"].as_bool() {
            Some(true) => format!("`{}` (required)", string(&parameter["name"])),
            _ => format!("`{}`", string(&parameter["name"])),
        };
        let schema = type_of(&parameter["schema"]);
        let description = string(&parameter["description"]);
        push_row(text, &[&name, string(&parameter["in"]), &schema, description]);
    }
    if let Some(body) = schema_of_content(&operation["requestBody"]) {
        writeln!(text, "\nRequest: {body}").unwrap();
        push_example(text, &operation["requestBody"]);
    }
    let mut last_example = &NULL;
    for (status, response) in operation["responses"].as_object().unwrap() {
        // All operations share these responses.
        if matches!(status.as_str(), "4XX" | "503" | "507") {
            continue;
        }
        let body = schema_of_content(response).map(|schema| format!(" ({schema})"));
        let description = string(&response["description"]);
        writeln!(text, "\nReply {status}: {description}{}.", body.unwrap_or_default()).unwrap();
        // Replies of different statuses have the same example.
        if example_of(response) != last_example {
            push_example(text, response);
        }
        last_example = example_of(response);
    }
}

/// Returns the example of a request or reply, or null.
fn example_of(part: &Value) -> &Value {
    let content = part["content"].as_object().and_then(|content| content.values().next());
    content.map_or(&NULL, |content| &content["example"])
}

fn push_example(text: &mut String, part: &Value) {
    writeln!(text, "\n```json\n{}\n```", example_of(part)).unwrap();
}

fn push_problems(text: &mut String) {
    text.push_str("\n## Problem types\n\nErrors are problem details (RFC 9457), `application/problem+json`.\n\n");
    push_table_head(text, &["Type", "Status", "Title"]);
    for kind in ProblemKind::ALL {
        let urn = format!("`{}`", kind.urn());
        push_row(text, &[&urn, &kind.status().to_string(), kind.title()]);
    }
}

fn push_schemas(text: &mut String, document: &Value) {
    text.push_str("\n## Schemas\n");
    for (name, schema) in document.pointer("/components/schemas").unwrap().as_object().unwrap() {
        writeln!(text, "\n### {name}\n\n{}", string(&schema["description"]).replace('\n', " "))
            .unwrap();
        if let Some(properties) = schema["properties"].as_object() {
            text.push('\n');
            push_table_head(text, &["Property", "Type", "Description"]);
            for (property, definition) in properties {
                push_property(text, schema, property, definition);
            }
        } else {
            writeln!(text, "\n{}", type_of(schema)).unwrap();
        }
    }
}

fn push_property(text: &mut String, schema: &Value, property: &str, definition: &Value) {
    let required = schema["required"].as_array();
    let is_required =
        required.is_some_and(|names| names.iter().any(|name| name.as_str() == Some(property)));
    let optional = if is_required { "" } else { " (optional)" };
    let description = definition["description"].as_str().or_else(|| {
        let parts = definition["oneOf"].as_array()?;
        parts.iter().find_map(|part| part["description"].as_str())
    });
    let name = format!("`{property}`{optional}");
    push_row(text, &[&name, &type_of(definition), description.unwrap_or_default()]);
}

/// Returns the schema of a JSON request or reply.
fn schema_of_content(part: &Value) -> Option<String> {
    let content = part["content"].as_object()?;
    let (media_type, content) = content.iter().next()?;
    let schema = type_of(&content["schema"]);
    Some(if media_type == "application/json" { schema } else { format!("`{media_type}`") })
}

/// Returns a schema as a short Markdown text, with links to named schemas.
fn type_of(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap();
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> =
            values.iter().map(|value| format!("`{}`", enum_text(value))).collect();
        return values.join(", ");
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        if let Some(parts) = schema[key].as_array() {
            let parts = parts.iter().filter(|part| part["type"] != "null");
            return parts.map(type_of).collect::<Vec<_>>().join(" or ");
        }
    }
    if schema["type"] == "array" || schema["items"].is_object() {
        return format!("array of {}{}", type_of(&schema["items"]), limits_of(schema));
    }
    if let Some(properties) = schema["properties"].as_object() {
        let properties: Vec<String> = properties
            .iter()
            .map(|(name, definition)| format!("`{name}`: {}", type_of(definition)))
            .collect();
        return format!("{{{}}}", properties.join(", "));
    }
    let name = match &schema["type"] {
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            let names: Vec<&str> =
                names.iter().map(string).filter(|name| *name != "null").collect();
            names.join(" or ")
        }
        _ => "any".to_owned(),
    };
    name + &limits_of(schema)
}

/// Returns the limits of a number, of the length of a text or of the number of items. Returns an
/// empty text if there are none, or if they are those of an integer type.
fn limits_of(schema: &Value) -> String {
    for (minimum, maximum, what) in [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", "length "),
        ("minItems", "maxItems", "length "),
    ] {
        let Some(maximum) = schema[maximum].as_u64() else { continue };
        if [u64::from(u32::MAX), u64::MAX].contains(&maximum) {
            continue;
        }
        let minimum = schema[minimum].as_u64().unwrap_or_default();
        if minimum == maximum {
            return format!(", {what}{maximum}");
        }
        return format!(", {what}{minimum} to {maximum}");
    }
    String::new()
}

fn enum_text(value: &Value) -> &str {
    match string(value) {
        "" => "\"\"",
        text => text,
    }
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
