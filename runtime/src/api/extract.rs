//! Bodies and query parameters, with errors that say what was wrong.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use cellar_api::wire::ProblemKind;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::reply::Failure;

/// A body of JSON, not yet read.
pub(super) struct JsonBody(Bytes);

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        if !is_json(request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok())) {
            let detail = "send the header `Content-Type: application/json`";
            return Err(Failure::new(ProblemKind::UnsupportedMediaType, detail));
        }
        match Bytes::from_request(request, state).await {
            Ok(bytes) => Ok(Self(bytes)),
            Err(_) => Err(Failure::new(ProblemKind::BadRequest, "the body could not be read")),
        }
    }
}

fn is_json(content_type: Option<&str>) -> bool {
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

impl JsonBody {
    /// Reads the body.
    pub(super) fn read<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, Failure> {
        serde_json::from_slice(&self.0).map_err(|error| {
            let kind = match error.classify() {
                Category::Data => ProblemKind::InvalidRequest,
                Category::Syntax | Category::Eof | Category::Io => ProblemKind::BadRequest,
            };
            Failure::new(kind, format!("the body is not as expected: {error}"))
        })
    }
}

/// The id in a path. One that is not even text looks like what does not exist.
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

/// The ids of a spreadsheet and of something that it has in a path.
macro_rules! path_of_two {
    ($(#[$doc:meta])* $name:ident, $of:ident) => {
        $(#[$doc])*
        pub(super) struct $name {
            pub(super) id: String,
            pub(super) $of: String,
        }

        impl<S: Send + Sync> FromRequestParts<S> for $name {
            type Rejection = Failure;

            async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
                match Path::<(String, String)>::from_request_parts(parts, state).await {
                    Ok(Path((id, $of))) => Ok(Self { id, $of }),
                    Err(_) => Err(Failure::not_found()),
                }
            }
        }
    };
}

path_of_two! {
    /// The ids of a spreadsheet and an upload in a path.
    PathUpload, upload
}

path_of_two! {
    /// The ids of a spreadsheet and one of its links in a path.
    PathLink, link
}

/// Query parameters.
pub(super) struct Parameters<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Parameters<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(parameters)) => Ok(Self(parameters)),
            Err(error) => Err(Failure::new(ProblemKind::BadRequest, error.body_text())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_is_json() {
        for yes in ["application/json", "Application/JSON; charset=utf-8"] {
            assert!(is_json(Some(yes)));
        }
        for no in [None, Some(""), Some("text/plain"), Some("application/jsonp")] {
            assert!(!is_json(no));
        }
    }

    #[test]
    fn syntax_and_types_are_told_apart_and_deep_nesting_is_refused() {
        let read = |text: &str| {
            JsonBody(Bytes::from(text.to_owned())).read::<cellar_api::wire::CreateRequest>()
        };
        assert!(read(r#"{"nonce":"a"}"#).is_ok());
        let deep = "[".repeat(100_000);
        for (text, kind) in [
            ("", ProblemKind::BadRequest),
            ("{", ProblemKind::BadRequest),
            ("{\"nonce\":}", ProblemKind::BadRequest),
            ("{\"nonce\":1}", ProblemKind::InvalidRequest),
            ("{\"nonce\":\"a\",\"other\":1}", ProblemKind::InvalidRequest),
            ("{}", ProblemKind::InvalidRequest),
        ] {
            assert_eq!(read(text).unwrap_err().kind(), kind, "{text}");
        }
        assert!(read(&deep).is_err());
        assert!(JsonBody(Bytes::from_static(b"\xff")).read::<serde_json::Value>().is_err());
    }
}
