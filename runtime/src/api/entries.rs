//! Handles `GET /v1/spreadsheets/{id}` and `GET …/entries`, which load a spreadsheet and list its
//! newer entries.

use std::sync::Arc;

use axum::extract::State;
use cellar_api::wire::{EntriesReply, EntryView, ForkSource, LoadReply, PositionOrTime};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_catalog::access::Need;
use cellar_log::entry::{Content, Entry};
use serde::Deserialize;

#[cfg(test)]
use cellar_api::wire::Problem;

use super::auth::Caller;
use super::extract::{Parameters, PathId};
use super::json::Json;
use super::position_parameter::{self, find_position};
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `getHead` and `getStats`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct MinPosition {
    /// Position that the reply has at least, so that clients read their own writes. If the newest position
    /// is earlier, such as after the tables were restored, the reply has that one: check its position.
    pub(super) min_position: Option<Position>,
}

/// Query parameters of `loadSpreadsheet`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct LoadParameters {
    /// Position or time to load; defaults to the newest position. The reply has the newest snapshot
    /// before it, and the entries up to it.
    #[serde(default, deserialize_with = "position_parameter::optional")]
    at: Option<PositionOrTime>,
    /// Position that the reply has at least, so that clients read their own writes. If the newest position
    /// is earlier, such as after the tables were restored, the reply has that one: check its position.
    min_position: Option<Position>,
}

/// Query parameters of `listEntries`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct EntriesParameters {
    /// Position of the last entry that the client has.
    after: Position,
}

/// Load a snapshot root and the entries after it, for any position
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}",
    operation_id = "loadSpreadsheet",
    tag = "Log",
    params(LoadParameters),
    responses((status = 200, description = "The root and the entries", body = LoadReply))
))]
pub(super) async fn load_spreadsheet(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    Parameters(parameters): Parameters<LoadParameters>,
) -> Result<Json<LoadReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let LoadParameters { at, min_position } = parameters;
    let loaded = match find_position(&state, log_id, at, min_position).await? {
        None => state.logs().load(log_id, min_position).await?,
        Some(at) => state.logs().load_at(log_id, at).await?,
    };
    let root_url = match &loaded.root {
        None => None,
        Some(root_key) => Some(state.logs().object_url(root_key).await?.url),
    };
    Ok(Json(LoadReply {
        head: loaded.head,
        incarnation: loaded.incarnation,
        source: visible_fork_source(&state, &caller, log_id).await?,
        root: loaded.root,
        root_url,
        entries: entry_views(&state, &loaded.entries).await?,
        next: loaded.next,
    }))
}

/// Returns the source of a fork, or `None` if the caller may not view the source.
async fn visible_fork_source(
    state: &ApiState,
    caller: &Caller,
    log_id: LogId,
) -> Result<Option<ForkSource>, Failure> {
    let Some((source_log_id, position)) = state.logs().forked_from(log_id).await? else {
        return Ok(None);
    };
    if !caller.can_read(state, source_log_id).await? {
        return Ok(None);
    }
    Ok(Some(ForkSource { spreadsheet: source_log_id, position }))
}

/// List the entries after a position
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/entries",
    operation_id = "listEntries",
    tag = "Log",
    params(EntriesParameters),
    responses(
        (status = 200, description = "The entries", body = EntriesReply),
        (status = 410, description = "Reload required", body = Problem, content_type = "application/problem+json"),
    )
))]
pub(super) async fn list_entries(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    Parameters(parameters): Parameters<EntriesParameters>,
) -> Result<Json<EntriesReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let update = state.logs().update(log_id, parameters.after).await?;
    Ok(Json(EntriesReply {
        head: update.head,
        incarnation: update.incarnation,
        entries: entry_views(&state, &update.entries).await?,
        next: update.next,
    }))
}

/// Converts log entries to their response format. Adds a download URL for each external body.
pub(super) async fn entry_views(
    state: &ApiState,
    entries: &[Arc<Entry>],
) -> Result<Vec<EntryView>, Failure> {
    let mut views = Vec::with_capacity(entries.len());
    for entry in entries {
        let mut view = EntryView::from(entry.as_ref());
        if let Content::External(external) = &entry.content
            && let Some(body) = &mut view.external_body
        {
            body.url = Some(state.logs().external_url(external).await?);
        }
        views.push(view);
    }
    Ok(views)
}
