//! Handles `GET /v1/spreadsheets/{id}/sheets`, which lists the sheets and names of a spreadsheet.

use axum::extract::State;
use cellar_api::wire::{NameView, PositionOrTime, SheetView, SheetsReply};
use cellar_base::position::Position;
use cellar_catalog::access::Need;
use serde::Deserialize;

use super::auth::Caller;
use super::extract::{Parameters, PathId};
use super::json::Json;
use super::position_parameter::{self, find_position};
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `listSheets`.
#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct SheetsParameters {
    /// Position or time to read at; defaults to the newest position.
    #[serde(default, deserialize_with = "position_parameter::optional")]
    at: Option<PositionOrTime>,
    /// Position that the reply has at least, so that clients read their own writes. If the newest position
    /// is earlier, such as after the tables were restored, the reply has that one: check its position.
    min_position: Option<Position>,
}

/// List the sheets in tab order and the defined names, at any position
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/sheets",
    operation_id = "listSheets",
    tag = "Cells",
    params(SheetsParameters),
    responses((status = 200, description = "The sheets and names", body = SheetsReply))
))]
pub(super) async fn list_sheets(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    Parameters(parameters): Parameters<SheetsParameters>,
) -> Result<Json<SheetsReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let SheetsParameters { at, min_position } = parameters;
    let at = find_position(&state, log_id, at, min_position).await?;
    let view = state.logs().open_view(log_id, at, min_position).await?;
    let tabs = &view.metadata.tabs;
    let mut sheets = Vec::new();
    for sheet_id in tabs.order() {
        let sheet_metadata = view.metadata.sheets.get(sheet_id);
        sheets.push(SheetView {
            sheet: *sheet_id,
            name: tabs.name(*sheet_id).unwrap_or_default().to_owned(),
            extent: sheet_metadata.map(|metadata| metadata.extent).unwrap_or_default(),
        });
    }
    Ok(Json(SheetsReply {
        position: view.position,
        incarnation: view.incarnation,
        sheets,
        next_sheet: tabs.next_sheet(),
        names: NameView::of(&view.metadata),
    }))
}
