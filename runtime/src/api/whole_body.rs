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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::stream::{self, StreamExt as _};

    use super::*;

    /// How many parts of a body are read, and whether it is taken.
    async fn parts_read(parts: &[usize], max_bytes: usize) -> (usize, bool) {
        let given = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&given);
        let parts = stream::iter(parts.to_vec()).map(move |bytes| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>(Bytes::from(vec![b' '; bytes]))
        });
        let read = read(Body::from_stream(parts), max_bytes).await;
        (given.load(Ordering::Relaxed), read.is_ok())
    }

    #[tokio::test]
    async fn so_much_is_read_of_what_is_too_long_and_no_more() {
        let most = MAX_DRAINED_BYTES;
        assert_eq!(parts_read(&[most, 1, 1], MAX_REQUEST_BYTES).await, (2, false));
        assert_eq!(parts_read(&[most + 1, 1, 1], MAX_REQUEST_BYTES).await, (1, false));
    }

    #[tokio::test]
    async fn a_body_ends_at_its_limit_however_it_comes() {
        for max_bytes in [MAX_REQUEST_BYTES, MAX_PUSH_BYTES] {
            assert_eq!(parts_read(&[max_bytes], max_bytes).await, (1, true));
            assert_eq!(parts_read(&[1, max_bytes - 1], max_bytes).await, (2, true));
            assert_eq!(parts_read(&[max_bytes, 1], max_bytes).await, (2, false));
        }
    }
}
