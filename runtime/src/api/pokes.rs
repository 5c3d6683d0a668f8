//! `GET /v1/spreadsheets/{id}/pokes`: streams pokes as server-sent events. A poke notifies a client
//! that the spreadsheet has new entries.

use std::convert::Infallible;
use std::future::ready;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use cellar_api::wire::{Poke, ProblemKind};
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
/// A poke contains the newest position; read the new entries with `listEntries`. The stream ends
/// after a few minutes, so that an expired token cannot keep it open. Deployments in AWS do not
/// send pokes: poll `getHead` instead.
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
    PathId(spreadsheet_id): PathId,
) -> Result<Response, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    // Subscribe before reading the newest position. Otherwise, an append between the two steps
    // would go unnoticed.
    let subscription = state.pokes().follow(log_id, caller.principal.subject)?;
    let head = state.logs().head(log_id, None).await?.head;
    let keep_alive = KeepAlive::new().interval(Duration::from_secs(POKE_KEEP_ALIVE_S));
    let events = Sse::new(poke_events(log_id, head, subscription));
    Ok(events.keep_alive(keep_alive).into_response())
}

impl From<FollowError> for Failure {
    fn from(error: FollowError) -> Self {
        let kind = match error {
            FollowError::NoPokes => ProblemKind::PokesUnsupported,
            FollowError::TooMany { .. } | FollowError::TooManyOfOne { .. } => {
                ProblemKind::Unavailable
            }
        };
        Self::new(kind, error.to_string())
    }
}

/// Returns a stream of pokes (notifications): first for the position `head`, then for each newer
/// position. The stream ends after `MAX_FOLLOWED_S` seconds.
fn poke_events(
    log_id: LogId,
    head: Position,
    subscription: Subscription,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let later_positions =
        stream::unfold((subscription, head), |(mut subscription, sent_position)| async move {
            let position = next_position(&mut subscription, sent_position).await?;
            Some((position, (subscription, position)))
        });
    let to_event = move |head| {
        // Serializing plain data cannot fail.
        Ok(Event::default().json_data(Poke { spreadsheet: log_id, head }).unwrap_or_default())
    };
    let time_limit = tokio::time::sleep(Duration::from_secs(MAX_FOLLOWED_S));
    stream::once(ready(head)).chain(later_positions).map(to_event).take_until(time_limit)
}

/// Waits until the log's newest position is later than `sent_position`, and returns it. Returns
/// `None` if the subscription has ended.
async fn next_position(
    subscription: &mut Subscription,
    sent_position: Position,
) -> Option<Position> {
    loop {
        subscription.newest.changed().await.ok()?;
        let newest_position = *subscription.newest.borrow_and_update();
        if newest_position > sent_position {
            return Some(newest_position);
        }
    }
}
