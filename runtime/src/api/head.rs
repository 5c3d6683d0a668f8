//! `GET /v1/spreadsheets/{id}/head`.

use axum::Json;
use axum::extract::State;
use axum::http::header::{ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use cellar_api::wire::Head;
use cellar_catalog::access::Need;

#[cfg(test)]
use cellar_base::position::Position;

use super::auth::Caller;
use super::entries::MinPosition;
use super::extract::{Parameters, PathId};
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
    params(("min_position" = Option<Position>, Query, description = "Lowest acceptable position of the reply (read your writes)")),
    responses(
        (status = 200, description = "The newest position", body = Head),
        (status = 304, description = "Not modified"),
    )
))]
pub(super) async fn get_head(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    Parameters(parameters): Parameters<MinPosition>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let log = caller.authorize(&state, &id, Need::Read).await?;
    let newest = state.logs().head(log, parameters.min_position).await?;
    let head = Head { head: newest.head, incarnation: newest.incarnation };
    let etag = head.etag();
    let etag_header = [(ETAG, etag.clone())];
    if headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes()) {
        return Ok((StatusCode::NOT_MODIFIED, etag_header).into_response());
    }
    Ok((etag_header, Json(head)).into_response())
}
