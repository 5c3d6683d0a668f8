//! Handles `GET /v1/feed`, which lists feed items.

use axum::extract::State;
use cellar_api::wire::{FeedReply, ProblemKind};
use cellar_base::limits::{MAX_FEED_EVENTS_ITEMS, MAX_FEED_PAGE_ITEMS};
use cellar_catalog::access::{Role, Scope};
use cellar_catalog::feed::{Checkpoint, FeedId};
use cellar_engine::feed::{FeedError, feed_reply};
use cellar_engine::ports::PortError;
use cellar_engine::streams::StreamError;
use serde::Deserialize;

use super::auth::Caller;
use super::extract::{Parameters, check_page_limit};
use super::json::Json;
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `listFeedItems`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct FeedParameters {
    /// Checkpoint after the last processed item; defaults to the beginning.
    #[cfg_attr(test, param(value_type = Option<u64>))]
    after: Option<String>,
    /// Generation of the checkpoint; 410 if the feed has another generation.
    generation: Option<String>,
    /// Maximum number of items: up to 1,000, or 20 with `payloads`.
    limit: Option<u32>,
    /// Include event payloads.
    #[serde(default)]
    payloads: bool,
}

impl From<FeedError> for Failure {
    fn from(error: FeedError) -> Self {
        let message = error.to_string();
        match error {
            FeedError::AnotherFeed => Self::new(ProblemKind::FeedGenerationChanged, message),
            FeedError::Beyond => Self::new(ProblemKind::InvalidRequest, message),
            FeedError::Damaged { .. } | FeedError::Indexing(_) => {
                StreamError::Store(PortError::permanent(message)).into()
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
    params(FeedParameters),
    responses((status = 200, description = "One page of results", body = FeedReply))
))]
pub(super) async fn list_feed_items(
    State(state): State<ApiState>,
    caller: Caller,
    Parameters(parameters): Parameters<FeedParameters>,
) -> Result<Json<FeedReply>, Failure> {
    let with_payloads = parameters.payloads;
    check_feed_access(&caller, with_payloads)?;
    let checkpoint = parameters.after.as_deref().map(parse_checkpoint).transpose()?;
    let generation = parameters.generation.as_deref().map(parse_generation).transpose()?;
    let max_limit = if with_payloads { MAX_FEED_EVENTS_ITEMS } else { MAX_FEED_PAGE_ITEMS };
    let limit = parameters.limit.unwrap_or(max_limit);
    check_page_limit(limit, max_limit)?;
    let page = state.feed().page(checkpoint, generation, limit).await?;
    let payload_source = if with_payloads { Some(state.catalog()) } else { None };
    Ok(Json(feed_reply(page, payload_source).await?))
}

fn parse_checkpoint(after: &str) -> Result<Checkpoint, Failure> {
    after
        .parse::<Checkpoint>()
        .map_err(|error| Failure::new(ProblemKind::BadRequest, error.to_string()))
}

fn parse_generation(generation: &str) -> Result<FeedId, Failure> {
    generation.parse::<FeedId>().map_err(|()| {
        Failure::new(ProblemKind::BadRequest, "`generation` must consist of 16 hexadecimal digits")
    })
}

fn check_feed_access(caller: &Caller, with_payloads: bool) -> Result<(), Failure> {
    let is_operator = matches!(caller.principal.scope, Scope::All);
    if !is_operator {
        return Err(Failure::new(ProblemKind::Forbidden, "the feed requires an operator token"));
    }
    if with_payloads && caller.principal.role < Role::Owner {
        let detail = "payloads of the feed require an operator token with role owner";
        return Err(Failure::new(ProblemKind::Forbidden, detail));
    }
    Ok(())
}
