//! Replies with a body in JSON.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::reply::report_internal;

/// A reply with a body in JSON.
///
/// The type of the same name in axum writes into `BytesMut`, which takes twice as long for the many short
/// pieces of a reply with cells.
#[derive(Debug)]
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        const JSON: HeaderValue = HeaderValue::from_static("application/json");
        match serde_json::to_vec(&self.0) {
            Ok(body) => ([(header::CONTENT_TYPE, JSON)], body).into_response(),
            Err(error) => report_internal(&error.to_string()).into_response(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use axum::body::to_bytes;
    use axum::http::StatusCode;

    use super::*;

    #[tokio::test]
    async fn a_reply_that_has_no_form_in_json_is_an_internal_error() {
        let response = Json(HashMap::from([(1, "a")])).into_response();
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
        assert_eq!(to_bytes(response.into_body(), 100).await.unwrap(), r#"{"1":"a"}"#);
        let response = Json(HashMap::from([([1, 2], "a")])).into_response();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
    }
}
