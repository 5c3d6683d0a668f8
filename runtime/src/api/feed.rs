//! `GET /v1/feed`.

use axum::Json;
use axum::extract::State;
use cellar_core::access::{Role, Scope};
use cellar_core::api::{FeedReply, ProblemKind};
use cellar_core::feed::{Checkpoint, FeedId};
use cellar_core::limits::{MAX_FEED_EVENTS_ITEMS, MAX_FEED_PAGE_ITEMS};
use cellar_engine::feed::{FeedError, view};
use cellar_engine::streams::StreamError;
use serde::Deserialize;

#[cfg(test)]
use cellar_core::api::Problem;

use super::auth::Caller;
use super::extract::Parameters;
use super::reply::Failure;
use super::state::ApiState;

/// Parameters of a page of the feed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct After {
    after: Option<String>,
    feed: Option<String>,
    limit: Option<u32>,
    #[serde(default)]
    events: bool,
}

impl From<FeedError> for Failure {
    fn from(error: FeedError) -> Self {
        let text = error.to_string();
        match error {
            FeedError::AnotherFeed => Self::new(ProblemKind::FeedChanged, text),
            FeedError::Beyond => Self::new(ProblemKind::Unprocessable, text),
            FeedError::Damaged { .. } => {
                StreamError::Store(cellar_engine::ports::PortError::permanent(text)).into()
            }
            FeedError::Store(error) => StreamError::Store(error).into(),
        }
    }
}

/// Everything that was appended to the stack's streams, from a checkpoint on: for operators, with a token for
/// all spreadsheets. What the events say is for owners.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/feed",
    params(
        ("after" = Option<u64>, Query, description = "The `next` of what was handled last; without it, the \
            feed from its beginning"),
        ("feed" = Option<String>, Query, description = "The `feed` that the checkpoint is of: if the stack \
            has another one, the answer says so"),
        ("limit" = Option<u32>, Query, description = "At most so many items, up to 1,000; 20 with `events`"),
        ("events" = Option<bool>, Query, description = "Whether to tell what the events say"),
    ),
    responses(
        (status = 200, description = "Some of it", body = FeedReply),
        (status = "4XX", description = "What was wrong", body = Problem),
    ),
    security(("token" = []))
))]
pub(super) async fn feed(
    State(state): State<ApiState>,
    caller: Caller,
    Parameters(parameters): Parameters<After>,
) -> Result<Json<FeedReply>, Failure> {
    let After { after, feed, limit, events } = parameters;
    may_read(&caller, events)?;
    let bad = |what: String| Failure::new(ProblemKind::BadRequest, what);
    let after = after.map(|after| after.parse::<Checkpoint>()).transpose();
    let after = after.map_err(|error| bad(error.to_string()))?;
    let feed = feed.map(|feed| feed.parse::<FeedId>()).transpose();
    let feed = feed.map_err(|()| bad("`feed` is 16 hexadecimal digits".to_owned()))?;
    let most = if events { MAX_FEED_EVENTS_ITEMS } else { MAX_FEED_PAGE_ITEMS };
    let limit = limit.unwrap_or(most);
    if !(1..=most).contains(&limit) {
        return Err(bad(format!("`limit` is 1 to {most}")));
    }
    let page = state.feed().page(after, feed, limit).await?;
    let catalog = events.then(|| state.catalog());
    Ok(Json(view(page, catalog).await?))
}

fn may_read(caller: &Caller, events: bool) -> Result<(), Failure> {
    let forbidden = |why: &str| Err(Failure::new(ProblemKind::Forbidden, why));
    match (&caller.0.scope, caller.0.role) {
        (Scope::All, Role::Owner) => Ok(()),
        (Scope::All, _) if !events => Ok(()),
        (Scope::All, _) => forbidden("what the events say is for a token with the role owner"),
        _ => forbidden("the feed is for operators: it needs a token for all spreadsheets"),
    }
}
