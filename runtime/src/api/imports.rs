//! `POST /v1/spreadsheets/{id}/imports/uploads` and `…/imports/checks`.

use axum::Json;
use axum::extract::State;
use cellar_core::access::Need;
use cellar_core::api::{
    ChunkUpload, ImportCheckReply, ImportCheckRequest, ImportUploadsReply, ImportUploadsRequest,
    NewChunk, ProblemKind, UploadedChunk, parse_sha256,
};
use cellar_core::identity::ClientKey;
use cellar_core::snapshot::level::ChunkRef;
use cellar_engine::logs::ChunkToUpload;

#[cfg(test)]
use cellar_core::{api::Problem, identity::LogId};

use super::auth::Caller;
use super::extract::{JsonBody, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// Grants the uploads of chunks of an import, one request for each. Uploads are deleted after three days.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/imports/uploads",
    params(("id" = LogId, Path, description = "The spreadsheet")),
    request_body = ImportUploadsRequest,
    responses(
        (status = 200, description = "The requests that upload them", body = ImportUploadsReply),
        (status = "4XX", description = "What was wrong", body = Problem),
    ),
    security(("token" = []))
))]
pub(super) async fn grant(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    body: JsonBody,
) -> Result<Json<ImportUploadsReply>, Failure> {
    let log = caller.log(&state, &id, Need::Write).await?;
    let request: ImportUploadsRequest = body.read()?;
    let client = ClientKey::derive(&caller.0.subject, &request.client)?;
    let chunks = request.chunks.iter().map(to_upload).collect::<Result<Vec<_>, _>>()?;
    let granted = state.logs().grant_chunks(log, client, &chunks).await?;
    let uploads = granted.into_iter().map(|granted| ChunkUpload {
        method: granted.method,
        url: granted.url,
        headers: granted.headers.into_iter().collect(),
        expires: granted.expires_s,
    });
    Ok(Json(ImportUploadsReply { uploads: uploads.collect() }))
}

/// Verifies uploaded chunks and publishes them: chunks of cells with the long texts that they name, and a
/// chunk of an index with all that it names. May be repeated.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/imports/checks",
    params(("id" = LogId, Path, description = "The spreadsheet")),
    request_body = ImportCheckRequest,
    responses(
        (status = 200, description = "All of it is sound", body = ImportCheckReply),
        (status = "4XX", description = "What was wrong", body = Problem),
        (status = 503, description = "Repeat the request unchanged", body = Problem),
    ),
    security(("token" = []))
))]
pub(super) async fn check(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    body: JsonBody,
) -> Result<Json<ImportCheckReply>, Failure> {
    let log = caller.log(&state, &id, Need::Write).await?;
    let request: ImportCheckRequest = body.read()?;
    let client = ClientKey::derive(&caller.0.subject, &request.client)?;
    let tiles = request.tiles.iter().map(uploaded).collect::<Result<Vec<_>, _>>()?;
    let index = request.index.as_ref().map(uploaded).transpose()?;
    let checked = state.logs().check_chunks(log, client, &tiles, index.as_ref()).await?;
    Ok(Json(ImportCheckReply { checked }))
}

fn to_upload(new: &NewChunk) -> Result<ChunkToUpload, Failure> {
    let sha256 = parse_sha256(&new.sha256).map_err(|error| refused(&error))?;
    Ok(ChunkToUpload { chunk: chunk(&new.hash, new.bytes)?, sha256 })
}

fn uploaded(uploaded: &UploadedChunk) -> Result<ChunkRef, Failure> {
    chunk(&uploaded.hash, uploaded.bytes)
}

fn chunk(hash: &str, bytes: u32) -> Result<ChunkRef, Failure> {
    let hash =
        hash.parse().map_err(|error: cellar_core::snapshot::keys::NotAHash| refused(&error))?;
    Ok(ChunkRef { hash, bytes })
}

fn refused(error: &impl ToString) -> Failure {
    Failure::new(ProblemKind::Unprocessable, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sums_are_read_and_nothing_else_is_one() {
        let good = NewChunk { hash: "ab".repeat(32), bytes: 7, sha256: "CD".repeat(32) };
        let read = to_upload(&good).unwrap();
        assert_eq!(read.chunk.hash.to_string(), good.hash);
        assert_eq!((read.chunk.bytes, read.sha256), (7, [0xcd; 32]));
        for bad in [
            NewChunk { hash: "AB".repeat(32), ..good.clone() },
            NewChunk { hash: "../x".to_owned(), ..good.clone() },
            NewChunk { sha256: "x".repeat(64), ..good },
        ] {
            assert_eq!(to_upload(&bad).unwrap_err().kind(), ProblemKind::Unprocessable);
        }
    }
}
