//! Handles `GET /v1/spreadsheets/{id}/head`, which returns the newest position of a spreadsheet.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::ETAG;
use axum::response::{IntoResponse, Response};
use cellar_api::wire::Head;
use cellar_catalog::access::Need;

use super::auth::Caller;
use super::entries::MinPosition;
use super::extract::{Parameters, PathId};
use super::if_none_match::IfNoneMatch;
use super::json::Json;
use super::reply::Failure;
use super::state::ApiState;

/// Get the newest position (for polling; supports ETag)
///
/// With the `ETag` of the last response in `If-None-Match`, an unchanged spreadsheet returns 304.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/head",
    operation_id = "getHead",
    tag = "Log",
    params(MinPosition, IfNoneMatch),
    responses(
        (status = 200, description = "The newest position", body = Head),
        (status = 304, description = "Not modified"),
    )
))]
pub(super) async fn get_head(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    Parameters(parameters): Parameters<MinPosition>,
    known: IfNoneMatch,
) -> Result<Response, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let newest = state.logs().head(log_id, parameters.min_position).await?;
    let head = Head { head: newest.head, incarnation: newest.incarnation };
    let etag = head.etag();
    if known.includes(&etag) {
        return Ok((StatusCode::NOT_MODIFIED, [(ETAG, etag)]).into_response());
    }
    Ok(([(ETAG, etag)], Json(head)).into_response())
}
