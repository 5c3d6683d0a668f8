//! `GET /v1/spreadsheets/{id}/pokes`: a stream of pokes (change hints) as server-sent events.

use std::convert::Infallible;
use std::future::ready;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use cellar_api::{wire::Poke, wire::ProblemKind};
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_FOLLOWED_S, POKE_KEEP_ALIVE_S};
use cellar_base::position::Position;
use cellar_catalog::access::Need;
use cellar_engine::ports::{FollowError, Subscription};
use futures_util::stream::{self, Stream, StreamExt as _};

use super::auth::Caller;
use super::extract::PathId;
use super::reply::Failure;
use super::state::ApiState;

/// Stream a poke whenever the spreadsheet grows (server-sent events)
///
/// A poke names the newest position; read the entries with `listEntries`. The stream ends after a few minutes, so that
/// an expired token cannot keep it open. Deployments in AWS do not send pokes: poll `getHead` instead.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/pokes",
    operation_id = "streamPokes",
    tag = "Sync",
    responses((status = 200, description = "The pokes; the first is sent immediately", body = Poke, content_type = "text/event-stream"))
))]
pub(super) async fn stream_pokes(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
) -> Result<Response, Failure> {
    let log = caller.authorize(&state, &id, Need::Read).await?;
    // Subscribe before reading the head; otherwise an append in between would be missed.
    let followed = state.pokes().follow(log, caller.0.subject).map_err(|why| match why {
        FollowError::NoPokes => Failure::new(ProblemKind::PokesUnsupported, why.to_string()),
        FollowError::TooMany { .. } | FollowError::TooManyOfOne { .. } => {
            Failure::new(ProblemKind::Unavailable, why.to_string())
        }
    })?;
    let head = state.logs().head(log, None).await?.head;
    let keep_alive = KeepAlive::new().interval(Duration::from_secs(POKE_KEEP_ALIVE_S));
    Ok(Sse::new(poke_events(log, head, followed)).keep_alive(keep_alive).into_response())
}

/// Returns a stream of pokes (change hints): first `head`, then each newer position. The stream
/// ends after its time limit.
fn poke_events(
    log: LogId,
    head: Position,
    followed: Subscription,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let later = stream::unfold((followed, head), |(mut followed, sent)| async move {
        loop {
            followed.newest.changed().await.ok()?;
            let newest = *followed.newest.borrow_and_update();
            if newest > sent {
                return Some((newest, (followed, newest)));
            }
        }
    });
    let to_event = move |head| {
        // Serializing plain data cannot fail.
        Ok(Event::default().json_data(Poke { spreadsheet: log, head }).unwrap_or_default())
    };
    let end = tokio::time::sleep(Duration::from_secs(MAX_FOLLOWED_S));
    stream::once(ready(head)).chain(later).map(to_event).take_until(end)
}
