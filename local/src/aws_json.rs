//! The AWS JSON 1.0 protocol, which sends the operation name in a header and the parameters in a
//! JSON body.

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

/// Header that contains the operation name.
pub(crate) const TARGET: &str = "x-amz-target";
pub(crate) const JSON: &str = "application/x-amz-json-1.0";

/// Returns the operation name in a request's `x-amz-target` header, without the service's `prefix`.
/// Returns an empty string if the header is missing or does not start with `prefix`.
pub(crate) fn operation<'a>(headers: &'a HeaderMap, prefix: &str) -> &'a str {
    let Some(target) = headers.get(TARGET).and_then(|target| target.to_str().ok()) else {
        return "";
    };
    target.strip_prefix(prefix).unwrap_or_default()
}

pub(crate) fn error_response(status: StatusCode, code: &str, message: &str) -> Response {
    let error_type = format!("com.amazon.coral.service#{code}");
    let body = json!({ "__type": error_type, "message": message });
    json_response(status, body.to_string().into_bytes())
}

pub(crate) fn json_response(status: StatusCode, json: Vec<u8>) -> Response {
    (status, [(CONTENT_TYPE, JSON)], json).into_response()
}
