//! Handles `POST /v1/spreadsheets/{id}/imports/uploads` and `…/imports/checks`, which create upload
//! URLs and verify the uploaded chunks.

use axum::extract::State;
use cellar_api::wire::{
    ChunkUpload, ImportCheckReply, ImportCheckRequest, ImportUploadsReply, ImportUploadsRequest,
    NewChunk, UploadedChunk, parse_sha256,
};
use cellar_base::identity::ClientKey;
use cellar_catalog::access::Need;
use cellar_engine::logs::ChunkToUpload;
use cellar_snapshot::level::{ChunkHash, ChunkRef};

use super::auth::Caller;
use super::extract::{JsonBody, PathId};
use super::json::Json;
use super::reply::Failure;
use super::state::ApiState;

/// Create upload URLs for the chunks of an import
///
/// Uploaded chunks are deleted after three days, unless a check has published them.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/imports/uploads",
    operation_id = "createImportUploads",
    tag = "Imports",
    request_body = ImportUploadsRequest,
    responses((status = 200, description = "An upload request per chunk", body = ImportUploadsReply))
))]
pub(super) async fn create_import_uploads(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    body: JsonBody,
) -> Result<Json<ImportUploadsReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Write).await?;
    let request: ImportUploadsRequest = body.parse()?;
    let client_key = ClientKey::derive(&caller.principal.subject, &request.client_id)?;
    let chunks = request.chunks.iter().map(parse_new_chunk).collect::<Result<Vec<_>, _>>()?;
    let granted_uploads = state.logs().grant_chunks(log_id, client_key, &chunks).await?;
    let uploads = granted_uploads
        .into_iter()
        .map(|granted| ChunkUpload {
            method: granted.method,
            url: granted.url,
            headers: granted.headers.into_iter().collect(),
            expires_s: granted.expires_s,
        })
        .collect();
    Ok(Json(ImportUploadsReply { uploads }))
}

/// Verify uploaded chunks and keep them (idempotent)
///
/// A chunk of cells is verified together with the long texts that it refers to. A chunk of the tile
/// index is verified together with all chunks that it refers to.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/imports/checks",
    operation_id = "checkImportChunks",
    tag = "Imports",
    request_body = ImportCheckRequest,
    responses((status = 200, description = "All chunks are valid", body = ImportCheckReply))
))]
pub(super) async fn check_import_chunks(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    body: JsonBody,
) -> Result<Json<ImportCheckReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Write).await?;
    let request: ImportCheckRequest = body.parse()?;
    let client_key = ClientKey::derive(&caller.principal.subject, &request.client_id)?;
    let tile_chunks =
        request.tiles.iter().map(parse_uploaded_chunk).collect::<Result<Vec<_>, _>>()?;
    let tile_index_chunk =
        request.tile_index_chunk.as_ref().map(parse_uploaded_chunk).transpose()?;
    let checked = state
        .logs()
        .publish_chunks(log_id, client_key, &tile_chunks, tile_index_chunk.as_ref())
        .await?;
    Ok(Json(ImportCheckReply { checked }))
}

fn parse_new_chunk(new_chunk: &NewChunk) -> Result<ChunkToUpload, Failure> {
    let sha256 =
        parse_sha256(&new_chunk.sha256).map_err(|error| Failure::invalid_request(&error))?;
    Ok(ChunkToUpload { chunk: parse_chunk_ref(&new_chunk.hash, new_chunk.bytes)?, sha256 })
}

fn parse_uploaded_chunk(uploaded_chunk: &UploadedChunk) -> Result<ChunkRef, Failure> {
    parse_chunk_ref(&uploaded_chunk.hash, uploaded_chunk.bytes)
}

fn parse_chunk_ref(hex_hash: &str, bytes: u32) -> Result<ChunkRef, Failure> {
    let hash: ChunkHash = hex_hash.parse().map_err(|error| Failure::invalid_request(&error))?;
    Ok(ChunkRef { hash, bytes })
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::ProblemKind;

    use super::*;

    #[test]
    fn parses_hashes_and_checksums() {
        let good = NewChunk { hash: "ab".repeat(32), bytes: 7, sha256: "CD".repeat(32) };
        let parsed = parse_new_chunk(&good).unwrap();
        assert_eq!(parsed.chunk.hash.to_string(), good.hash);
        assert_eq!((parsed.chunk.bytes, parsed.sha256), (7, [0xcd; 32]));
        for bad in [
            NewChunk { hash: "AB".repeat(32), ..good.clone() },
            NewChunk { hash: "../x".to_owned(), ..good.clone() },
            NewChunk { sha256: "x".repeat(64), ..good },
        ] {
            assert_eq!(parse_new_chunk(&bad).unwrap_err().kind(), ProblemKind::InvalidRequest);
        }
    }
}
