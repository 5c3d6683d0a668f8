//! Handles `GET /v1/spreadsheets/{id}/stats`, which returns storage statistics.

use axum::extract::State;
use cellar_api::wire::StatsReply;
use cellar_catalog::access::Need;

use super::auth::Caller;
use super::entries::MinPosition;
use super::extract::{Parameters, PathId};
use super::json::Json;
use super::reply::Failure;
use super::state::ApiState;

/// Get storage statistics and the cost of opening the spreadsheet
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/stats",
    operation_id = "getStats",
    tag = "Snapshots",
    params(MinPosition),
    responses((status = 200, description = "The statistics", body = StatsReply))
))]
pub(super) async fn get_stats(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    Parameters(parameters): Parameters<MinPosition>,
) -> Result<Json<StatsReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    Ok(Json(state.logs().stats(log_id, parameters.min_position).await?))
}
