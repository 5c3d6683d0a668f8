//! Handles `POST /v1/spreadsheets/{id}/chunks`, which returns download URLs of snapshot chunks.

use axum::extract::State;
use cellar_api::wire::{ChunksReply, ChunksRequest, ProblemKind};
use cellar_base::limits::MAX_CHUNK_URLS;
use cellar_catalog::access::Need;
use cellar_snapshot::level::ChunkHash;

use super::auth::Caller;
use super::extract::{JsonBody, PathId};
use super::json::Json;
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
    PathId(spreadsheet_id): PathId,
    body: JsonBody,
) -> Result<Json<ChunksReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let request: ChunksRequest = body.parse()?;
    let chunk_hashes = parse_chunk_hashes(&request.hashes)?;
    // Return the same error as other operations if the spreadsheet does not exist.
    state.logs().head(log_id, None).await?;
    let chunk_urls = state.logs().chunk_urls(log_id, &chunk_hashes).await?;
    Ok(Json(ChunksReply { urls: chunk_urls.urls, expires_s: chunk_urls.expires_s }))
}

fn parse_chunk_hashes(hex_hashes: &[String]) -> Result<Vec<ChunkHash>, Failure> {
    let count = hex_hashes.len();
    if count > MAX_CHUNK_URLS {
        let detail = format!("{count} chunks are requested; at most {MAX_CHUNK_URLS} are allowed");
        return Err(Failure::new(ProblemKind::InvalidRequest, detail));
    }
    let chunk_hashes: Result<Vec<ChunkHash>, _> =
        hex_hashes.iter().map(|hex_hash| hex_hash.parse()).collect();
    chunk_hashes.map_err(|error| Failure::invalid_request(&error))
}
