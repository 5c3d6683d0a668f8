//! `GET /v1/spreadsheets/{id}` (load) and `GET …/entries` (update).

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use cellar_core::access::Need;
use cellar_core::api::{EntryView, ForkSource, LoadReply, UpdateReply};
use cellar_core::entry::{Content, Entry};
use cellar_core::position::Position;
use serde::Deserialize;

#[cfg(test)]
use cellar_core::{api::Problem, identity::LogId};

use super::auth::Caller;
use super::extract::{Parameters, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// Parameters of a load and of head.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Seen {
    pub(super) seen: Option<Position>,
}

/// Parameters of an update.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct After {
    after: Position,
}

/// Loads a spreadsheet: its newest snapshot's root, and the entries since.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}",
    params(
        ("id" = LogId, Path, description = "The spreadsheet"),
        ("seen" = Option<Position>, Query, description = "The reply is never older than this"),
    ),
    responses(
        (status = 200, description = "What to start from", body = LoadReply),
        (status = "4XX", description = "What was wrong", body = Problem),
    ),
    security(("token" = []))
))]
pub(super) async fn load(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    Parameters(parameters): Parameters<Seen>,
) -> Result<Json<LoadReply>, Failure> {
    let log = caller.log(&state, &id, Need::Read).await?;
    let loaded = state.logs().load(log, parameters.seen).await?;
    let root_url = match &loaded.root {
        None => None,
        Some(root) => Some(state.logs().object_url(root).await?.0),
    };
    let source = state.logs().forked_from(log).await?;
    let source = match source {
        Some(source) if caller.sees(&state, source.0).await? => Some(source),
        _ => None,
    };
    Ok(Json(LoadReply {
        head: loaded.head,
        epoch: loaded.epoch,
        source: source.map(|(spreadsheet, position)| ForkSource { spreadsheet, position }),
        root: loaded.root,
        root_url,
        entries: views(&state, &loaded.entries).await?,
        next: loaded.next,
    }))
}

/// Updates a loaded spreadsheet: the entries after a position.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/entries",
    params(
        ("id" = LogId, Path, description = "The spreadsheet"),
        ("after" = Position, Query, description = "The last position that was read"),
    ),
    responses(
        (status = 200, description = "The entries since", body = UpdateReply),
        (status = 410, description = "Too far behind: load again", body = Problem),
        (status = "4XX", description = "What was wrong", body = Problem),
    ),
    security(("token" = []))
))]
pub(super) async fn update(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    Parameters(parameters): Parameters<After>,
) -> Result<Json<UpdateReply>, Failure> {
    let log = caller.log(&state, &id, Need::Read).await?;
    let updated = state.logs().update(log, parameters.after).await?;
    Ok(Json(UpdateReply {
        head: updated.head,
        epoch: updated.epoch,
        entries: views(&state, &updated.entries).await?,
        next: updated.next,
    }))
}

/// Entries as clients see them, with URLs for the bodies that are objects.
pub(super) async fn views(
    state: &ApiState,
    entries: &[Arc<Entry>],
) -> Result<Vec<EntryView>, Failure> {
    let mut views = Vec::with_capacity(entries.len());
    for entry in entries {
        let mut view = EntryView::from(entry.as_ref());
        if let (Content::External(external), Some(shown)) = (&entry.content, &mut view.external) {
            shown.url = Some(state.logs().external_url(external).await?);
        }
        views.push(view);
    }
    Ok(views)
}
