//! `GET /v1/spreadsheets/{id}/head`.

use axum::Json;
use axum::extract::State;
use axum::http::header::{ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use cellar_core::access::Need;
use cellar_core::api::Head;

#[cfg(test)]
use cellar_core::{api::Problem, identity::LogId, position::Position};

use super::auth::Caller;
use super::entries::Seen;
use super::extract::{Parameters, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// The newest position: the cheap poll. With the ETag of the last answer in `If-None-Match`, an
/// unchanged spreadsheet answers 304.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/head",
    params(
        ("id" = LogId, Path, description = "The spreadsheet"),
        ("seen" = Option<Position>, Query, description = "The reply is never older than this"),
    ),
    responses(
        (status = 200, description = "The newest position", body = Head),
        (status = 304, description = "Nothing new"),
        (status = "4XX", description = "What was wrong", body = Problem),
    ),
    security(("token" = []))
))]
pub(super) async fn head(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    Parameters(parameters): Parameters<Seen>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let log = caller.log(&state, &id, Need::Read).await?;
    let headed = state.logs().head(log, parameters.seen).await?;
    let head = Head { head: headed.head, epoch: headed.epoch };
    let etag = head.etag();
    let tag = [(ETAG, etag.clone())];
    if headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes()) {
        return Ok((StatusCode::NOT_MODIFIED, tag).into_response());
    }
    Ok((tag, Json(head)).into_response())
}
