//! Middleware that reads each request body before the handler runs. The body of an authenticated
//! caller is buffered; any other body is discarded.
//!
//! Unauthenticated bodies must be read as well: if the server responds while the client is still
//! sending, the connection breaks and the client sees a network error instead of the response. In
//! Lambda, the body has always arrived completely.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
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

/// Path suffix of `pushMutations`, which has a higher body limit because Replicache does not split
/// a push.
const PUSH_SUFFIX: &str = "/push";

/// Middleware that forwards a request with a buffered body, or with an empty body if the caller is
/// not authenticated.
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
        return match with_timeout(drain(body)).await {
            // The handler repeats the authentication and returns its error.
            Ok(()) => next.run(Request::from_parts(parts, Body::empty())).await,
            Err(failure) => failure.into_response(),
        };
    };
    let is_push = parts.uri.path().ends_with(PUSH_SUFFIX);
    let max_bytes = if is_push { MAX_PUSH_BYTES } else { MAX_REQUEST_BYTES };
    let budget = state.body_budget().budget_for(&caller.0.scope);
    match with_timeout(read_into_buffer(body, max_bytes, budget)).await {
        Ok(buffer) => {
            let (bytes, permits) = buffer.into_parts();
            parts.extensions.insert(caller);
            let response = next.run(Request::from_parts(parts, Body::from(bytes))).await;
            drop(permits);
            response
        }
        Err(failure) => failure.into_response(),
    }
}

/// Limit how long a body may take to arrive, because an incomplete body occupies memory.
async fn with_timeout<T>(read: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::time::timeout(Duration::from_secs(MAX_BODY_S), read).await.unwrap_or_else(|_| {
        let detail = format!("the body did not arrive within {MAX_BODY_S} s; send it again");
        Err(Failure::new(ProblemKind::Unavailable, detail))
    })
}

/// Reads and discards a body.
async fn drain(body: Body) -> Result<(), Failure> {
    read_parts(body, |_, _| ()).await
}

/// Reads a body into a buffer. If the body is too long or the memory budget is exhausted, discards
/// the buffer, drains the rest of the body and returns an error.
async fn read_into_buffer(
    body: Body,
    max_bytes: usize,
    budget: &Arc<Semaphore>,
) -> Result<BodyBuffer, Failure> {
    let mut result = Ok(BodyBuffer::default());
    read_parts(body, |part, length| {
        let Ok(buffer) = &mut result else { return };
        if length > max_bytes {
            result = Err(too_long(max_bytes));
        } else if buffer.append(part, max_bytes, budget).is_err() {
            result = Err(out_of_memory_budget());
        }
    })
    .await?;
    result
}

/// Reads a body and calls `on_part` for each part with the number of bytes read so far. Stops after
/// `MAX_DRAINED_BYTES`.
async fn read_parts(mut body: Body, mut on_part: impl FnMut(&[u8], usize)) -> Result<(), Failure> {
    let mut length = 0_usize;
    while let Some(frame) = body.frame().await {
        let incomplete =
            |_| Failure::new(ProblemKind::BadRequest, "the body was not received completely");
        let Ok(data) = frame.map_err(incomplete)?.into_data() else { continue };
        length = length.saturating_add(data.len());
        on_part(&data, length);
        if length > MAX_DRAINED_BYTES {
            break;
        }
    }
    Ok(())
}

fn too_long(max_bytes: usize) -> Failure {
    let detail = format!("the body has more than {max_bytes} bytes; split the request");
    Failure::new(ProblemKind::TooLarge, detail)
}

fn out_of_memory_budget() -> Failure {
    let detail = "the server is processing too many large requests; retry the unchanged request";
    Failure::new(ProblemKind::Unavailable, detail)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::body::Bytes;
    use futures_util::stream::{self, StreamExt as _};

    use super::*;

    fn unlimited_budget() -> Arc<Semaphore> {
        Arc::new(Semaphore::new(Semaphore::MAX_PERMITS))
    }

    /// Returns the number of body parts read, and whether the body is accepted.
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
        assert!(with_timeout(drain(slow(limit - moment))).await.is_ok());
        let budget = unlimited_budget();
        let in_time = read_into_buffer(slow(limit - moment), 1, &budget);
        assert!(with_timeout(in_time).await.is_ok());
        let late = read_into_buffer(slow(limit + moment), 1, &budget);
        for late in
            [with_timeout(drain(slow(limit + moment))).await, with_timeout(late).await.map(drop)]
        {
            assert_eq!(late.unwrap_err().kind(), ProblemKind::Unavailable);
        }
    }
}
