//! `GET /v1/spreadsheets/{id}/sheets`.

use axum::Json;
use axum::extract::State;
use cellar_core::access::Need;
use cellar_core::api::{SheetView, SheetsReply};
use cellar_core::position::Position;
use serde::Deserialize;

#[cfg(test)]
use cellar_core::{api::Problem, identity::LogId};

use super::auth::Caller;
use super::extract::{Parameters, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// When.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct SheetsParameters {
    at: Option<Position>,
    seen: Option<Position>,
}

/// The sheets in the order of their tabs, at any position in history.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/sheets",
    params(
        ("id" = LogId, Path, description = "The spreadsheet"),
        ("at" = Option<Position>, Query, description = "The position; the newest if absent"),
        ("seen" = Option<Position>, Query, description = "The reply is never older than this"),
    ),
    responses(
        (status = 200, description = "The sheets", body = SheetsReply),
        (status = "4XX", description = "What was wrong", body = Problem),
    ),
    security(("token" = []))
))]
pub(super) async fn sheets(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    Parameters(parameters): Parameters<SheetsParameters>,
) -> Result<Json<SheetsReply>, Failure> {
    let log = caller.log(&state, &id, Need::Read).await?;
    let view = state.logs().view(log, parameters.at, parameters.seen).await?;
    let (tabs, outlines) = (&view.outline.tabs, &view.outline.sheets);
    let sheets = tabs.order().iter().map(|id| SheetView {
        sheet: *id,
        name: tabs.name(*id).unwrap_or_default().to_owned(),
        extent: outlines.get(id).map(|sheet| sheet.extent).unwrap_or_default(),
    });
    Ok(Json(SheetsReply {
        position: view.position,
        epoch: view.epoch,
        sheets: sheets.collect(),
        next_sheet: tabs.next_sheet(),
    }))
}
