//! Handles `GET /v1/spreadsheets/{id}/cells/trace`, which finds the areas that a cell
//! reads and the formulas that read it.

use axum::extract::State;
use cellar_api::wire::{PositionOrTime, TraceReply};
use cellar_base::position::Position;
use cellar_catalog::access::Need;
use cellar_engine::logs::TraceQuery;
use serde::Deserialize;

use super::auth::Caller;
use super::cells::select_sheet;
use super::extract::{Parameters, PathId};
use super::json::Json;
use super::position_parameter::{self, find_position};
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `traceCell`.
#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct TraceParameters {
    /// Cell such as B2.
    cell: String,
    /// Name of the sheet; defaults to the first.
    sheet: Option<String>,
    /// Position or time to read at; defaults to the newest position.
    #[serde(default, deserialize_with = "position_parameter::optional")]
    at: Option<PositionOrTime>,
    /// Position that the reply has at least, so that clients read their own writes. If the newest position
    /// is earlier, such as after the tables were restored, the reply has that one: check its position.
    min_position: Option<Position>,
}

/// Find the areas that a cell reads, and the formulas that read it
///
/// Only direct connections are found: trace the found cells to follow them further.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/cells/trace",
    operation_id = "traceCell",
    tag = "Cells",
    params(TraceParameters),
    responses((status = 200, description = "The areas and formulas", body = TraceReply))
))]
pub(super) async fn trace_cell(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    Parameters(parameters): Parameters<TraceParameters>,
) -> Result<Json<TraceReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let cell = parameters.cell.parse().map_err(|error| Failure::invalid_request(&error))?;
    let sheet = select_sheet(parameters.sheet.as_deref(), None)?;
    let at = find_position(&state, log_id, parameters.at, parameters.min_position).await?;
    let query = TraceQuery { sheet, cell, at, min_position: parameters.min_position };
    Ok(Json(state.logs().trace(log_id, &query).await?))
}
