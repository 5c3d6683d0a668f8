//! `POST /v1/spreadsheets/{id}/chunks`.

use axum::Json;
use axum::extract::State;
use cellar_api::{wire::ChunksReply, wire::ChunksRequest, wire::ProblemKind};
use cellar_base::limits::MAX_CHUNK_URLS;
use cellar_catalog::access::Need;
use cellar_snapshot::level::ChunkHash;

use super::auth::Caller;
use super::extract::{JsonBody, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// Get download URLs of snapshot chunks
///
/// Chunks are compressed with zstd, as their `Content-Encoding` says. A chunk never changes.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/chunks",
    operation_id = "getChunkUrls",
    tag = "Snapshots",
    request_body = ChunksRequest,
    responses((status = 200, description = "A URL per chunk", body = ChunksReply))
))]
pub(super) async fn get_chunk_urls(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    body: JsonBody,
) -> Result<Json<ChunksReply>, Failure> {
    let log = caller.authorize(&state, &id, Need::Read).await?;
    let request: ChunksRequest = body.parse()?;
    let invalid = |why: String| Failure::new(ProblemKind::InvalidRequest, why);
    let count = request.hashes.len();
    if count > MAX_CHUNK_URLS {
        let why = format!("{count} chunks are requested; at most {MAX_CHUNK_URLS} are allowed");
        return Err(invalid(why));
    }
    let hashes: Result<Vec<ChunkHash>, _> = request.hashes.iter().map(|h| h.parse()).collect();
    let hashes = hashes.map_err(|error| invalid(error.to_string()))?;
    // Like every other request, fail if the spreadsheet does not exist.
    state.logs().head(log, None).await?;
    let (urls, expires) = state.logs().chunk_urls(log, &hashes).await?;
    Ok(Json(ChunksReply { urls, expires_s: expires }))
}
