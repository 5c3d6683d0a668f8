//! Serves the OpenAPI document at `GET /v1/openapi.json`. The document is committed to the
//! repository. The test module `document` generates it from the handlers and wire types, so that
//! the Lambda bundle does not contain the generator.
//!
//! A test fails if the committed document is out of date. To update it, run `UPDATE_SNAPSHOTS=1
//! cargo test -p cellar-runtime document`.

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

/// The committed OpenAPI document, indented to be readable.
pub(super) const OPENAPI_JSON: &str = include_str!("openapi.json");

/// Get the OpenAPI document
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/openapi.json",
    operation_id = "getOpenApiDocument",
    tag = "System",
    responses((status = 200, description = "This document", body = Object))
))]
pub(super) async fn get_openapi_document() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], remove_json_whitespace(OPENAPI_JSON))
}

/// Removes whitespace between JSON tokens.
pub(super) fn remove_json_whitespace(json: &str) -> String {
    let mut compact_json = String::with_capacity(json.len());
    let mut is_in_string = false;
    let mut is_escaped = false;
    for character in json.chars() {
        if !is_in_string && character.is_ascii_whitespace() {
            continue;
        }
        compact_json.push(character);
        if character == '"' && !is_escaped {
            is_in_string = !is_in_string;
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    compact_json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_white_space_outside_strings_only() {
        let compacted = |value: &serde_json::Value| {
            let pretty = serde_json::to_string_pretty(value).unwrap();
            assert!(pretty.contains(":\u{20}"), "{pretty}");
            remove_json_whitespace(&pretty)
        };
        for text in ["a b", " \" b", "\\", "\\\" \n", "\t ü \u{1f600}", ""] {
            let value = serde_json::json!({ text: [text, { " ": [1, true, {}] }], "x": text });
            assert_eq!(compacted(&value), value.to_string());
        }
    }
}
