//! Requests and answers as several services of AWS write them: the operation in a header, JSON 1.0 in
//! the body.

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

/// Names the operation.
pub(crate) const TARGET: &str = "x-amz-target";
/// The media type.
pub(crate) const JSON: &str = "application/x-amz-json-1.0";

/// The operation that is asked for, of a service whose targets begin so; empty if none is.
pub(crate) fn operation<'a>(headers: &'a HeaderMap, prefix: &str) -> &'a str {
    let target = headers.get(TARGET).and_then(|target| target.to_str().ok());
    target.and_then(|target| target.strip_prefix(prefix)).unwrap_or_default()
}

/// An error.
pub(crate) fn error(status: StatusCode, kind: &str, message: &str) -> Response {
    let kind = format!("com.amazon.coral.service#{kind}");
    reply(status, json!({ "__type": kind, "message": message }).to_string().into_bytes())
}

/// An answer.
pub(crate) fn reply(status: StatusCode, json: Vec<u8>) -> Response {
    (status, [(CONTENT_TYPE, JSON)], json).into_response()
}
