//! Extractors for request bodies, ids and query parameters.

use std::borrow::Cow;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use cellar_api::wire::ProblemKind;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::reply::Failure;

/// Start of axum's error texts, before the name of the parameter.
const AXUM_QUERY_ERROR: &str = "Failed to deserialize query string: ";

/// An unparsed request body whose content type is JSON.
pub(super) struct JsonBody(Bytes);

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let content_type = match request.headers().get(CONTENT_TYPE) {
            Some(value) => String::from_utf8_lossy(value.as_bytes()),
            None => Cow::default(),
        };
        if !is_json(&content_type) {
            let detail =
                format!("Content-Type `{content_type}` is not supported; send `application/json`");
            return Err(Failure::new(ProblemKind::UnsupportedMediaType, detail));
        }
        match Bytes::from_request(request, state).await {
            Ok(bytes) => Ok(Self(bytes)),
            Err(_) => {
                Err(Failure::new(ProblemKind::BadRequest, "the body was not received completely"))
            }
        }
    }
}

fn is_json(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("application/json")
}

impl JsonBody {
    /// Parses the body. JSON syntax errors and unexpected values have different problem types.
    pub(super) fn parse<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, Failure> {
        serde_json::from_slice(&self.0).map_err(|error| {
            let kind = match error.classify() {
                Category::Data => ProblemKind::InvalidRequest,
                Category::Syntax | Category::Eof | Category::Io => ProblemKind::BadRequest,
            };
            Failure::new(kind, format!("unexpected body: {error}"))
        })
    }
}

/// The spreadsheet id in the request path. A malformed id causes the same error as a missing
/// spreadsheet.
pub(super) struct PathId(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(id)) => Ok(Self(id)),
            Err(_) => Err(Failure::not_found()),
        }
    }
}

/// Defines an extractor for request paths that contain a spreadsheet id and another id.
macro_rules! path_of_two_ids {
    ($(#[$doc:meta])* $type_name:ident, $second_id:ident) => {
        $(#[$doc])*
        pub(super) struct $type_name {
            pub(super) spreadsheet_id: String,
            pub(super) $second_id: String,
        }

        impl<S: Send + Sync> FromRequestParts<S> for $type_name {
            type Rejection = Failure;

            async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
                match Path::<(String, String)>::from_request_parts(parts, state).await {
                    Ok(Path((spreadsheet_id, $second_id))) => {
                        Ok(Self { spreadsheet_id, $second_id })
                    }
                    Err(_) => Err(Failure::not_found()),
                }
            }
        }
    };
}

path_of_two_ids! {
    /// The spreadsheet id and upload id in the request path.
    PathUpload, upload_id
}

path_of_two_ids! {
    /// The spreadsheet id and share link id in the request path.
    PathLink, link_id
}

path_of_two_ids! {
    /// The ids of two spreadsheets in the request path.
    PathOther, other_id
}

/// The query parameters of a request.
pub(super) struct Parameters<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Parameters<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(parameters)) => Ok(Self(parameters)),
            Err(error) => {
                let text = error.body_text();
                let fault = text.strip_prefix(AXUM_QUERY_ERROR).unwrap_or(&text);
                let detail = format!("invalid query parameter: {fault}");
                Err(Failure::new(ProblemKind::BadRequest, detail))
            }
        }
    }
}

/// Checks that the page size (`limit`) of a request is within the allowed range.
pub(super) fn check_page_limit(limit: u32, max_limit: u32) -> Result<(), Failure> {
    if (1..=max_limit).contains(&limit) {
        return Ok(());
    }
    let detail = format!("`limit` is {limit}; it must be 1 to {max_limit}");
    Err(Failure::new(ProblemKind::BadRequest, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_json_content_types() {
        for json_type in ["application/json", "Application/JSON; charset=utf-8"] {
            assert!(is_json(json_type));
        }
        for other_type in ["", "text/plain", "application/jsonp"] {
            assert!(!is_json(other_type));
        }
    }

    #[test]
    fn distinguishes_syntax_errors_from_unexpected_values() {
        let parse = |text: &str| {
            JsonBody(Bytes::from(text.to_owned())).parse::<cellar_api::wire::CreateRequest>()
        };
        assert!(parse(r#"{"nonce":"a"}"#).is_ok());
        let deep = "[".repeat(100_000);
        for (text, kind) in [
            ("", ProblemKind::BadRequest),
            ("{", ProblemKind::BadRequest),
            ("{\"nonce\":}", ProblemKind::BadRequest),
            ("{\"nonce\":1}", ProblemKind::InvalidRequest),
            ("{\"nonce\":\"a\",\"other\":1}", ProblemKind::InvalidRequest),
            ("{}", ProblemKind::InvalidRequest),
        ] {
            assert_eq!(parse(text).unwrap_err().kind(), kind, "{text}");
        }
        assert!(parse(&deep).is_err());
        assert!(JsonBody(Bytes::from_static(b"\xff")).parse::<serde_json::Value>().is_err());
    }
}
