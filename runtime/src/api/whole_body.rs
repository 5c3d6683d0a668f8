//! Reads each request's body before anything else is decided.
//!
//! An answer that comes while a client still sends breaks its connection: it would see that
//! instead of what was wrong. In a Lambda the body is there already.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cellar_core::api::ProblemKind;
use cellar_core::limits::{MAX_DRAINED_BYTES, MAX_PUSH_BYTES, MAX_REQUEST_BYTES};
use http_body_util::BodyExt as _;

use super::reply::Failure;

/// How the path of a push ends, which may be longer: nobody can split it.
const PUSH: &str = "/push";

/// Hands on the request with its whole body, if that is within the limit.
pub(super) async fn whole_body(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let max_bytes = match parts.uri.path().ends_with(PUSH) {
        true => MAX_PUSH_BYTES,
        false => MAX_REQUEST_BYTES,
    };
    match read(body, max_bytes).await {
        Ok(bytes) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Err(failure) => failure.into_response(),
    }
}

async fn read(mut body: Body, max_bytes: usize) -> Result<Bytes, Failure> {
    let (mut bytes, mut length) = (Vec::new(), 0_usize);
    while let Some(frame) = body.frame().await {
        let unreadable = |_| Failure::new(ProblemKind::BadRequest, "the body could not be read");
        let Ok(data) = frame.map_err(unreadable)?.into_data() else { continue };
        length = length.saturating_add(data.len());
        if length <= max_bytes {
            bytes.extend_from_slice(&data);
        }
        if length > MAX_DRAINED_BYTES {
            break;
        }
    }
    if length > max_bytes {
        let detail = format!("the body is longer than {max_bytes} bytes: split it");
        return Err(Failure::new(ProblemKind::TooLarge, detail));
    }
    Ok(bytes.into())
}
