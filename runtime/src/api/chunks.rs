//! `POST /v1/spreadsheets/{id}/chunks`.

use axum::Json;
use axum::extract::State;
use cellar_core::access::Need;
use cellar_core::api::{ChunksReply, ChunksRequest, ProblemKind};
use cellar_core::limits::MAX_CHUNK_URLS;
use cellar_core::snapshot::level::ChunkHash;

#[cfg(test)]
use cellar_core::{api::Problem, identity::LogId};

use super::auth::Caller;
use super::extract::{JsonBody, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// Where chunks of the spreadsheet's snapshots are read: zstd, as the bucket says in
/// `Content-Encoding`. A chunk never changes under its hash.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/chunks",
    params(("id" = LogId, Path, description = "The spreadsheet")),
    request_body = ChunksRequest,
    responses(
        (status = 200, description = "A URL for each", body = ChunksReply),
        (status = "4XX", description = "What was wrong", body = Problem),
    ),
    security(("token" = []))
))]
pub(super) async fn chunks(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    body: JsonBody,
) -> Result<Json<ChunksReply>, Failure> {
    let log = caller.log(&state, &id, Need::Read).await?;
    let request: ChunksRequest = body.read()?;
    let refused = |why: String| Failure::new(ProblemKind::Unprocessable, why);
    if request.hashes.len() > MAX_CHUNK_URLS {
        let count = request.hashes.len();
        return Err(refused(format!("at most {MAX_CHUNK_URLS} chunks at once, not {count}")));
    }
    let hashes: Result<Vec<ChunkHash>, _> = request.hashes.iter().map(|h| h.parse()).collect();
    let hashes = hashes.map_err(|error| refused(error.to_string()))?;
    // Whether there is such a spreadsheet is told by its head, as for every other request.
    state.logs().head(log, None).await?;
    let (urls, expires) = state.logs().chunk_urls(log, &hashes).await?;
    Ok(Json(ChunksReply { urls, expires }))
}
