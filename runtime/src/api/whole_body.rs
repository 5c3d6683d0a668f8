//! Reads each request's body before anything else is decided, and keeps it for those who have a token.
//!
//! An answer that comes while a client still sends breaks its connection: the client would see that
//! instead of the refusal. So the body of a request without an accepted token is read and dropped as it
//! comes. In a Lambda the body is there already.

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
use super::bodies::Kept;
use super::reply::Failure;
use super::state::ApiState;

/// How the path of a push ends, which may be longer: nobody can split it.
const PUSH: &str = "/push";

/// Hands on the request: with its whole body if it has a token, and without one otherwise.
pub(super) async fn whole_body(
    State(state): State<ApiState>,
    request: Request,
    next: Next,
) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    let Ok(caller) = Caller::from_request_parts(&mut parts, &state).await else {
        return match in_time(drain(body)).await {
            // The handler finds out again that the token is refused, and says so.
            Ok(()) => next.run(Request::from_parts(parts, Body::empty())).await,
            Err(failure) => failure.into_response(),
        };
    };
    let max_bytes = match parts.uri.path().ends_with(PUSH) {
        true => MAX_PUSH_BYTES,
        false => MAX_REQUEST_BYTES,
    };
    let room = state.bodies().room(&caller.0.scope);
    match in_time(read(body, max_bytes, room)).await {
        Ok(kept) => {
            let (bytes, room) = kept.into_parts();
            parts.extensions.insert(caller);
            let response = next.run(Request::from_parts(parts, Body::from(bytes))).await;
            drop(room);
            response
        }
        Err(failure) => failure.into_response(),
    }
}

/// A body that does not arrive in time takes no more room.
async fn in_time<T>(read: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::time::timeout(Duration::from_secs(MAX_BODY_S), read).await.unwrap_or_else(|_| {
        let detail = format!("the body did not arrive within {MAX_BODY_S} s: send it again");
        Err(Failure::new(ProblemKind::Unavailable, detail))
    })
}

/// Reads a body, and keeps nothing of it.
async fn drain(body: Body) -> Result<(), Failure> {
    each_part(body, |_, _| ()).await
}

/// Reads a body, and keeps it as long as it is not too long and there is room.
async fn read(body: Body, max_bytes: usize, room: &Arc<Semaphore>) -> Result<Kept, Failure> {
    let mut kept = Ok(Kept::default());
    each_part(body, |part, length| {
        let before = std::mem::replace(&mut kept, Ok(Kept::default()));
        kept = before.and_then(|kept| match length > max_bytes {
            true => Err(too_long(max_bytes)),
            false => kept.with(part, max_bytes, room).ok_or_else(no_room),
        });
    })
    .await?;
    kept
}

/// Reads a body up to `MAX_DRAINED_BYTES`, so that its sender gets an answer. `take` gets each part, and the
/// length up to its end.
async fn each_part(mut body: Body, mut take: impl FnMut(&[u8], usize)) -> Result<(), Failure> {
    let mut length = 0_usize;
    while let Some(frame) = body.frame().await {
        let unreadable = |_| Failure::new(ProblemKind::BadRequest, "the body could not be read");
        let Ok(data) = frame.map_err(unreadable)?.into_data() else { continue };
        length = length.saturating_add(data.len());
        take(&data, length);
        if length > MAX_DRAINED_BYTES {
            break;
        }
    }
    Ok(())
}

fn too_long(max_bytes: usize) -> Failure {
    let detail = format!("the body is longer than {max_bytes} bytes: split it");
    Failure::new(ProblemKind::TooLarge, detail)
}

fn no_room() -> Failure {
    let detail = "the server keeps too many requests for now: repeat the request unchanged";
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

    fn room() -> Arc<Semaphore> {
        Arc::new(Semaphore::new(Semaphore::MAX_PERMITS))
    }

    /// How many parts of a body are read, and whether it is taken.
    async fn parts_read(parts: &[usize], max_bytes: usize) -> (usize, bool) {
        let given = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&given);
        let parts = stream::iter(parts.to_vec()).map(move |bytes| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>(Bytes::from(vec![b' '; bytes]))
        });
        let read = read(Body::from_stream(parts), max_bytes, &room()).await;
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

    #[tokio::test]
    async fn where_there_is_no_room_the_body_is_read_and_not_kept() {
        let room = Arc::new(Semaphore::new(10));
        let body = |parts: &'static [usize]| {
            let part = |bytes: &usize| Ok::<_, Infallible>(Bytes::from(vec![b' '; *bytes]));
            Body::from_stream(stream::iter(parts.iter().map(part)))
        };
        let (first, _permit) = read(body(&[3, 4]), 100, &room).await.unwrap().into_parts();
        assert_eq!(first.len(), 7);
        let refused = read(body(&[2, 9, 1]), 100, &room).await.unwrap_err();
        assert_eq!(refused.kind(), ProblemKind::Unavailable);
        assert_eq!(room.available_permits(), 3, "what was kept of it is given back");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_may_take_so_long_and_no_longer() {
        let slow = |wait: Duration| {
            let part = async move {
                tokio::time::sleep(wait).await;
                Ok::<_, Infallible>(Bytes::from_static(b" "))
            };
            Body::from_stream(stream::once(part))
        };
        let limit = Duration::from_secs(MAX_BODY_S);
        let moment = Duration::from_millis(1);
        assert!(in_time(drain(slow(limit - moment))).await.is_ok());
        assert!(in_time(read(slow(limit - moment), 1, &room())).await.is_ok());
        for late in [
            in_time(drain(slow(limit + moment))).await,
            in_time(read(slow(limit + moment), 1, &room())).await.map(drop),
        ] {
            assert_eq!(late.unwrap_err().kind(), ProblemKind::Unavailable);
        }
    }
}
