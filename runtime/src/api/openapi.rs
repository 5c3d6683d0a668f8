//! `GET /v1/openapi.json`: the description of the API, as a text that stands beside this file.
//!
//! A test generates it from the handlers and the wire types (`document`), and not the program: what is
//! always the same needs no code in the bundle. The test fails if the text is not up to date, and writes it
//! anew if it is told to: `UPDATE_SNAPSHOTS=1 cargo test -p cellar-runtime document`.

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

/// The description, on lines for whoever reads it or a change of it.
pub(super) const TEXT: &str = include_str!("openapi.json");

/// Get the OpenAPI document
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/openapi.json",
    operation_id = "getOpenApiDocument",
    tag = "System",
    responses((status = 200, description = "This document"))
))]
pub(super) async fn openapi() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], compact(TEXT))
}

/// JSON without the white space between its parts.
pub(super) fn compact(json: &str) -> String {
    let (mut is_text, mut is_escaped) = (false, false);
    let is_part = |&character: &char| {
        if is_text {
            is_text = is_escaped || character != '"';
            is_escaped = !is_escaped && character == '\\';
            return true;
        }
        is_text = character == '"';
        !character.is_ascii_whitespace()
    };
    json.chars().filter(is_part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_outside_of_texts_goes() {
        let compacted = |value: &serde_json::Value| {
            let pretty = serde_json::to_string_pretty(value).unwrap();
            assert!(pretty.contains(":\u{20}"), "{pretty}");
            compact(&pretty)
        };
        for text in ["a b", " \" b", "\\", "\\\" \n", "\t ü \u{1f600}", ""] {
            let value = serde_json::json!({ text: [text, { " ": [1, true, {}] }], "x": text });
            assert_eq!(compacted(&value), value.to_string());
        }
    }
}
