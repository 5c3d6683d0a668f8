//! `GET /v1/feed`.

use axum::Json;
use axum::extract::State;
use cellar_api::{wire::FeedReply, wire::ProblemKind};
use cellar_base::limits::{MAX_FEED_EVENTS_ITEMS, MAX_FEED_PAGE_ITEMS};
use cellar_catalog::access::{Role, Scope};
use cellar_catalog::feed::{Checkpoint, FeedId};
use cellar_engine::feed::{FeedError, feed_reply};
use cellar_engine::streams::StreamError;
use serde::Deserialize;

use super::auth::Caller;
use super::extract::Parameters;
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `listFeedItems`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FeedParameters {
    after: Option<String>,
    generation: Option<String>,
    limit: Option<u32>,
    #[serde(default)]
    payloads: bool,
}

impl From<FeedError> for Failure {
    fn from(error: FeedError) -> Self {
        let text = error.to_string();
        match error {
            FeedError::AnotherFeed => Self::new(ProblemKind::FeedGenerationChanged, text),
            FeedError::Beyond => Self::new(ProblemKind::InvalidRequest, text),
            FeedError::Damaged { .. } => {
                StreamError::Store(cellar_engine::ports::PortError::permanent(text)).into()
            }
            FeedError::Store(error) => StreamError::Store(error).into(),
        }
    }
}

/// List feed items after a checkpoint
///
/// Requires an operator token; payloads require the role owner.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/feed",
    operation_id = "listFeedItems",
    tag = "Feed",
    params(
        ("after" = Option<u64>, Query, description = "Checkpoint after the last processed item; defaults to the beginning"),
        ("generation" = Option<String>, Query, description = "Generation of the checkpoint; 410 if the feed has another one"),
        ("limit" = Option<u32>, Query, description = "Maximum number of items: up to 1,000, or 20 with `payloads`"),
        ("payloads" = Option<bool>, Query, description = "Include event payloads"),
    ),
    responses((status = 200, description = "One page of results", body = FeedReply))
))]
pub(super) async fn list_feed_items(
    State(state): State<ApiState>,
    caller: Caller,
    Parameters(parameters): Parameters<FeedParameters>,
) -> Result<Json<FeedReply>, Failure> {
    let FeedParameters { after, generation, limit, payloads } = parameters;
    check_may_read(&caller, payloads)?;
    let bad_request = |what: String| Failure::new(ProblemKind::BadRequest, what);
    let after = after.map(|after| after.parse::<Checkpoint>()).transpose();
    let after = after.map_err(|error| bad_request(error.to_string()))?;
    let generation = generation.map(|id| id.parse::<FeedId>()).transpose();
    let generation = generation
        .map_err(|()| bad_request("`generation` is not 16 hexadecimal digits".to_owned()))?;
    let max_limit = if payloads { MAX_FEED_EVENTS_ITEMS } else { MAX_FEED_PAGE_ITEMS };
    let limit = limit.unwrap_or(max_limit);
    if !(1..=max_limit).contains(&limit) {
        return Err(bad_request(format!("`limit` is {limit}; it must be 1 to {max_limit}")));
    }
    let page = state.feed().page(after, generation, limit).await?;
    let catalog = if payloads { Some(state.catalog()) } else { None };
    Ok(Json(feed_reply(page, catalog).await?))
}

fn check_may_read(caller: &Caller, payloads: bool) -> Result<(), Failure> {
    let detail = match (&caller.0.scope, caller.0.role) {
        (Scope::All, Role::Owner) => return Ok(()),
        (Scope::All, _) if !payloads => return Ok(()),
        (Scope::All, _) => "payloads of the feed require an operator token with role owner",
        _ => "the feed requires an operator token",
    };
    Err(Failure::new(ProblemKind::Forbidden, detail))
}
