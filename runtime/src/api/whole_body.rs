//! Middleware that reads the whole request body before the handler runs. Bodies of authenticated
//! callers are buffered. All other bodies are read and discarded.
//!
//! If the server responded while the client was still sending, the connection would break and the
//! client would see a network error instead of the response. In Lambda, the whole body has always
//! arrived before the function is invoked.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{FromRequestParts as _, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cellar_api::wire::ProblemKind;
use cellar_base::limits::{MAX_BODY_S, MAX_DRAINED_BYTES, MAX_PUSH_BYTES, MAX_REQUEST_BYTES};
use http_body_util::BodyExt as _;
use tokio::sync::Semaphore;

use super::auth::Caller;
use super::bodies::BodyBuffer;
use super::reply::Failure;
use super::state::ApiState;

/// Path suffix of `pushMutations`, whose body may be longer, because Replicache does not split a
/// push.
const PUSH_SUFFIX: &str = "/push";

/// Middleware that buffers the request body and forwards the request. If the caller is not
/// authenticated, it forwards an empty body.
pub(super) async fn buffer_body(
    State(state): State<ApiState>,
    request: Request,
    next: Next,
) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    let Ok(caller) = Caller::from_request_parts(&mut parts, &state).await else {
        if let Err(failure) = with_timeout(discard_rest(body, 0)).await {
            return failure.into_response();
        }
        // Ignore the authentication error here. The handler authenticates the request again and
        // returns the error.
        return next.run(Request::from_parts(parts, Body::empty())).await;
    };
    let is_push = parts.uri.path().ends_with(PUSH_SUFFIX);
    let max_bytes = if is_push { MAX_PUSH_BYTES } else { MAX_REQUEST_BYTES };
    let budget = state.body_budget().budget_for(&caller.principal.scope);
    let buffer = match with_timeout(read_into_buffer(body, max_bytes, budget)).await {
        Ok(buffer) => buffer,
        Err(failure) => return failure.into_response(),
    };
    parts.extensions.insert(caller);
    // Keep the permits until the response is complete, because the body occupies memory until then.
    let (body_bytes, permits) = buffer.into_parts();
    let response = next.run(Request::from_parts(parts, Body::from(body_bytes))).await;
    drop(permits);
    response
}

/// Reads a body within a time limit. Without the limit, a client could occupy memory by sending a
/// body slowly.
async fn with_timeout<T>(read: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::time::timeout(Duration::from_secs(MAX_BODY_S), read).await.unwrap_or_else(|_| {
        let detail = format!("the body did not arrive within {MAX_BODY_S} s; send it again");
        Err(Failure::new(ProblemKind::Unavailable, detail))
    })
}

/// Reads a body into a buffer. If the body is too long or the memory budget is exhausted, discards
/// the whole body and returns an error.
async fn read_into_buffer(
    mut body: Body,
    max_bytes: usize,
    budget: &Arc<Semaphore>,
) -> Result<BodyBuffer, Failure> {
    let mut buffer = BodyBuffer::default();
    let mut bytes_read = 0;
    while let Some(part) = read_part(&mut body).await? {
        bytes_read += part.len();
        let append_result = if bytes_read > max_bytes {
            Err(body_too_long(max_bytes))
        } else {
            buffer.append(&part, max_bytes, budget)
        };
        if let Err(failure) = append_result {
            drop(buffer);
            discard_rest(body, bytes_read).await?;
            return Err(failure);
        }
    }
    Ok(buffer)
}

/// Reads and discards the rest of a body, of which `bytes_read` bytes have been read. Stops when a
/// total of `MAX_DRAINED_BYTES` bytes is exceeded.
async fn discard_rest(mut body: Body, mut bytes_read: usize) -> Result<(), Failure> {
    while bytes_read <= MAX_DRAINED_BYTES {
        let Some(part) = read_part(&mut body).await? else { break };
        bytes_read += part.len();
    }
    Ok(())
}

/// Returns the next part of a body, or `None` at the end of the body.
async fn read_part(body: &mut Body) -> Result<Option<Bytes>, Failure> {
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            let detail = "the body was not received completely";
            return Err(Failure::new(ProblemKind::BadRequest, detail));
        };
        if let Ok(part) = frame.into_data() {
            return Ok(Some(part));
        }
    }
    Ok(None)
}

fn body_too_long(max_bytes: usize) -> Failure {
    let detail = format!("the body has more than {max_bytes} bytes; split the request");
    Failure::new(ProblemKind::TooLarge, detail)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::stream::{self, StreamExt as _};

    use super::*;

    fn unlimited_budget() -> Arc<Semaphore> {
        Arc::new(Semaphore::new(Semaphore::MAX_PERMITS))
    }

    /// Reads a body. Returns the number of parts read and whether the body was accepted.
    async fn parts_read(parts: &[usize], max_bytes: usize) -> (usize, bool) {
        let produced = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&produced);
        let parts = stream::iter(parts.to_vec()).map(move |bytes| {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>(Bytes::from(vec![b' '; bytes]))
        });
        let body = Body::from_stream(parts);
        let buffer = read_into_buffer(body, max_bytes, &unlimited_budget()).await;
        (produced.load(Ordering::Relaxed), buffer.is_ok())
    }

    #[tokio::test]
    async fn stops_reading_a_body_that_is_too_long() {
        let most = MAX_DRAINED_BYTES;
        assert_eq!(parts_read(&[most, 1, 1], MAX_REQUEST_BYTES).await, (2, false));
        assert_eq!(parts_read(&[most + 1, 1, 1], MAX_REQUEST_BYTES).await, (1, false));
    }

    #[tokio::test]
    async fn limits_the_length_of_a_body_in_any_number_of_parts() {
        for max_bytes in [MAX_REQUEST_BYTES, MAX_PUSH_BYTES] {
            assert_eq!(parts_read(&[max_bytes], max_bytes).await, (1, true));
            assert_eq!(parts_read(&[1, max_bytes - 1], max_bytes).await, (2, true));
            assert_eq!(parts_read(&[max_bytes, 1], max_bytes).await, (2, false));
        }
    }

    #[tokio::test]
    async fn discards_a_body_that_exceeds_the_budget() {
        let budget = Arc::new(Semaphore::new(10));
        let body = |parts: &'static [usize]| {
            let part = |bytes: &usize| Ok::<_, Infallible>(Bytes::from(vec![b' '; *bytes]));
            Body::from_stream(stream::iter(parts.iter().map(part)))
        };
        let first = read_into_buffer(body(&[3, 4]), 100, &budget).await.unwrap();
        let (first, _permit) = first.into_parts();
        assert_eq!(first.len(), 7);
        let rejected = read_into_buffer(body(&[2, 9, 1]), 100, &budget).await.unwrap_err();
        assert_eq!(rejected.kind(), ProblemKind::Unavailable);
        assert_eq!(budget.available_permits(), 3, "the permits are returned");
    }

    #[tokio::test(start_paused = true)]
    async fn limits_the_time_that_a_body_takes() {
        let slow = |wait: Duration| {
            let part = async move {
                tokio::time::sleep(wait).await;
                Ok::<_, Infallible>(Bytes::from_static(b" "))
            };
            Body::from_stream(stream::once(part))
        };
        let limit = Duration::from_secs(MAX_BODY_S);
        let moment = Duration::from_millis(1);
        assert!(with_timeout(discard_rest(slow(limit - moment), 0)).await.is_ok());
        let budget = unlimited_budget();
        let in_time = read_into_buffer(slow(limit - moment), 1, &budget);
        assert!(with_timeout(in_time).await.is_ok());
        let late = read_into_buffer(slow(limit + moment), 1, &budget);
        for late in [
            with_timeout(discard_rest(slow(limit + moment), 0)).await,
            with_timeout(late).await.map(drop),
        ] {
            assert_eq!(late.unwrap_err().kind(), ProblemKind::Unavailable);
        }
    }
}
