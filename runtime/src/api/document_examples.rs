//! Adds an example of each request and reply to the OpenAPI document. The examples are in
//! `examples.json`, by operation id. Tests compare them with the schemas.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use utoipa::Modify;
use utoipa::openapi::path::{Operation, ParameterBuilder};
use utoipa::openapi::{OpenApi, RefOr};

use super::document::path_operations;

const EXAMPLES_JSON: &str = include_str!("examples.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    /// Values of parameters by name. The id of the spreadsheet has no example, because no
    /// spreadsheet has it.
    #[serde(default)]
    parameters: BTreeMap<String, Value>,
    request: Option<Value>,
    response: Value,
}

pub(super) struct Examples;

impl Modify for Examples {
    fn modify(&self, document: &mut OpenApi) {
        let mut examples: BTreeMap<String, Example> = serde_json::from_str(EXAMPLES_JSON).unwrap();
        for operation in document.paths.paths.values_mut().flat_map(path_operations) {
            let id = operation.operation_id.clone().unwrap();
            let example = examples.remove(&id).unwrap_or_else(|| panic!("{id} has no example"));
            example.add_to(operation);
        }
        let unused: Vec<_> = examples.keys().collect();
        assert!(unused.is_empty(), "{unused:?}");
    }
}

impl Example {
    fn add_to(mut self, operation: &mut Operation) {
        for parameter in operation.parameters.iter_mut().flatten() {
            if let Some(value) = self.parameters.remove(&parameter.name) {
                *parameter = ParameterBuilder::from(parameter.clone()).example(Some(value)).build();
            }
        }
        assert!(self.parameters.is_empty(), "{:?}", self.parameters);
        let request = operation.request_body.as_mut();
        for content in request.into_iter().flat_map(|body| body.content.values_mut()) {
            content.example = Some(self.request.take().unwrap());
        }
        assert!(self.request.is_none(), "the operation has no request body");
        for (status, response) in &mut operation.responses.responses {
            let RefOr::T(response) = response else { continue };
            if status.starts_with('2') {
                for content in response.content.values_mut() {
                    content.example = Some(self.response.clone());
                }
            }
        }
    }
}

mod tests {
    use super::super::openapi::OPENAPI_JSON;
    use super::*;

    const UNKNOWN: &str = " is unknown";

    /// Returns the places where a value differs from a schema.
    fn differences(document: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
        if let Some(reference) = schema["$ref"].as_str() {
            let schema = document.pointer(reference.strip_prefix('#').unwrap()).unwrap();
            return differences(document, schema, value, place);
        }
        let mut found = Vec::new();
        for part in schema["allOf"].as_array().into_iter().flatten() {
            let of_part = differences(document, part, value, place);
            // Another part may describe the property.
            found.extend(of_part.into_iter().filter(|difference| !difference.ends_with(UNKNOWN)));
        }
        if let Some(kinds) = schema["oneOf"].as_array() {
            let fits = |kind: &Value| differences(document, kind, value, place).is_empty();
            if !kinds.iter().any(fits) {
                found.push(format!("{place} has no such kind"));
            }
        }
        let types: Vec<&str> = match &schema["type"] {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => vec![],
        };
        if !types.is_empty() && !types.iter().any(|name| has_type(value, name)) {
            found.push(format!("{place} is not of the type {types:?}"));
        }
        if let Some(values) = schema["enum"].as_array()
            && !values.contains(value)
        {
            found.push(format!("{place} is not one of {values:?}"));
        }
        found.extend(differences_of_parts(document, schema, value, place));
        found
    }

    fn has_type(value: &Value, name: &str) -> bool {
        match name {
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            _ => panic!("unknown type {name}"),
        }
    }

    fn differences_of_parts(
        document: &Value,
        schema: &Value,
        value: &Value,
        place: &str,
    ) -> Vec<String> {
        let mut found = Vec::new();
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            if schema["items"].is_object() {
                let place = format!("{place}[{index}]");
                found.extend(differences(document, &schema["items"], item, &place));
            }
        }
        for required in schema["required"].as_array().into_iter().flatten() {
            if value.is_object() && value.get(required.as_str().unwrap()).is_none() {
                found.push(format!("{place} has no {required}"));
            }
        }
        let Some(properties) = schema["properties"].as_object() else { return found };
        for (name, property) in value.as_object().into_iter().flatten() {
            let place = format!("{place}.{name}");
            match properties.get(name) {
                Some(schema) => found.extend(differences(document, schema, property, &place)),
                None => found.push(format!("{place}{UNKNOWN}")),
            }
        }
        found
    }

    #[test]
    fn examples_follow_the_schemas() {
        let document: Value = serde_json::from_str(OPENAPI_JSON).unwrap();
        let mut found = Vec::new();
        let mut count = 0;
        for operations in document["paths"].as_object().unwrap().values() {
            for operation in operations.as_object().unwrap().values() {
                let id = &operation["operationId"];
                let request = &operation["requestBody"]["content"];
                let responses = operation["responses"].as_object().unwrap().iter();
                let successes = responses.filter(|(status, _)| status.starts_with('2'));
                let contents = successes.map(|(_, response)| &response["content"]);
                for content in contents.chain([request]).filter_map(Value::as_object).flatten() {
                    let (_, content) = content;
                    let (schema, example) = (&content["schema"], &content["example"]);
                    assert!(!example.is_null(), "{id} has no example");
                    found.extend(differences(&document, schema, example, &id.to_string()));
                    count += 1;
                }
            }
        }
        assert_eq!(found, [""; 0]);
        assert!(count > 40, "{count}");
    }

    #[test]
    fn differences_are_found() {
        let document: Value = serde_json::from_str(OPENAPI_JSON).unwrap();
        let schema = serde_json::json!({ "$ref": "#/components/schemas/CreateReply" });
        for (json, place) in [
            (r#"{"id": "x", "head": 0}"#, "no \"incarnation\""),
            (r#"{"id": "x", "head": "0.42", "incarnation": 0}"#, "reply.head is not of"),
            (r#"{"id": "x", "head": 0, "incarnation": 0, "nonce": "x"}"#, "reply.nonce is unknown"),
        ] {
            let value = serde_json::from_str(json).unwrap();
            let found = differences(&document, &schema, &value, "reply");
            assert!(found.len() == 1 && found[0].contains(place), "{found:?}");
        }
    }
}
