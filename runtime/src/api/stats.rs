//! `GET /v1/spreadsheets/{id}/stats`.

use axum::Json;
use axum::extract::State;
use cellar_core::access::Need;
use cellar_core::api::StatsReply;

#[cfg(test)]
use cellar_core::{api::Problem, identity::LogId, position::Position};

use super::auth::Caller;
use super::entries::Seen;
use super::extract::{Parameters, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// What a spreadsheet amounts to: its snapshot, levels and chunks, and what opening it costs.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/stats",
    params(
        ("id" = LogId, Path, description = "The spreadsheet"),
        ("seen" = Option<Position>, Query, description = "The reply is never older than this"),
    ),
    responses(
        (status = 200, description = "The figures", body = StatsReply),
        (status = "4XX", description = "What was wrong", body = Problem),
    ),
    security(("token" = []))
))]
pub(super) async fn stats(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    Parameters(parameters): Parameters<Seen>,
) -> Result<Json<StatsReply>, Failure> {
    let log = caller.log(&state, &id, Need::Read).await?;
    Ok(Json(state.logs().stats(log, parameters.seen).await?))
}
