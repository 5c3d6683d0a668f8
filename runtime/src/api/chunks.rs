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
pub(super) async fn chunks(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    body: JsonBody,
) -> Result<Json<ChunksReply>, Failure> {
    let log = caller.log(&state, &id, Need::Read).await?;
    let request: ChunksRequest = body.read()?;
    let refused = |why: String| Failure::new(ProblemKind::InvalidRequest, why);
    if request.hashes.len() > MAX_CHUNK_URLS {
        let count = request.hashes.len();
        return Err(refused(format!("at most {MAX_CHUNK_URLS} chunks at once, not {count}")));
    }
    let hashes: Result<Vec<ChunkHash>, _> = request.hashes.iter().map(|h| h.parse()).collect();
    let hashes = hashes.map_err(|error| refused(error.to_string()))?;
    // Whether there is such a spreadsheet is told by its head, as for every other request.
    state.logs().head(log, None).await?;
    let (urls, expires) = state.logs().chunk_urls(log, &hashes).await?;
    Ok(Json(ChunksReply { urls, expires_s: expires }))
}
