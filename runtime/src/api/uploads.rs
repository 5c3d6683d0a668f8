//! Handles `POST /v1/spreadsheets/{id}/uploads` and `…/uploads/{upload_id}/complete`, which create
//! an upload URL for a large entry and append the uploaded entry.

use axum::extract::State;
use cellar_api::wire::{
    AppendReply, CompleteRequest, ProblemKind, UploadReply, UploadRequest, parse_sha256,
};
use cellar_base::identity::ClientKey;
use cellar_catalog::access::Need;
use cellar_engine::logs::Completion;
use uuid::Uuid;

use super::append::append_reply;
use super::auth::Caller;
use super::extract::{JsonBody, PathId, PathUpload};
use super::json::Json;
use super::reply::Failure;
use super::state::ApiState;

/// Create an upload URL for the body of a large entry
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/uploads",
    operation_id = "createUpload",
    tag = "Log",
    request_body = UploadRequest,
    responses((status = 200, description = "The upload request", body = UploadReply))
))]
pub(super) async fn create_upload(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    body: JsonBody,
) -> Result<Json<UploadReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Write).await?;
    let request: UploadRequest = body.parse()?;
    let sha256 = parse_checksum(&request.sha256)?;
    check_not_empty(request.bytes)?;
    let upload_id = Uuid::new_v4();
    let granted = state.logs().grant_upload(log_id, upload_id, request.bytes, sha256).await?;
    Ok(Json(UploadReply {
        upload_id,
        method: granted.method,
        url: granted.url,
        headers: granted.headers.into_iter().collect(),
        expires_s: granted.expires_s,
    }))
}

/// Append an uploaded body as an entry, exactly once
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/uploads/{upload_id}/complete",
    operation_id = "completeUpload",
    tag = "Log",
    params(("upload_id" = Uuid, Path, description = "Id of the upload, from `createUpload`")),
    request_body = CompleteRequest,
    responses((status = 200, description = "The result of each mutation", body = AppendReply))
))]
pub(super) async fn complete_upload(
    State(state): State<ApiState>,
    caller: Caller,
    PathUpload { spreadsheet_id, upload_id }: PathUpload,
    body: JsonBody,
) -> Result<Json<AppendReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Write).await?;
    let upload_id: Uuid = upload_id.parse().map_err(|_| Failure::not_found())?;
    let request: CompleteRequest = body.parse()?;
    let client = ClientKey::derive(&caller.principal.subject, &request.client_id)?;
    let completion = Completion {
        upload: upload_id,
        bytes: request.bytes,
        sha256: parse_checksum(&request.sha256)?,
        client,
        author: Some(caller.principal.author),
        incarnation: request.incarnation,
        acknowledged: request.acked_id,
        first_id: request.first_id,
        base: request.base,
    };
    let appended = state.logs().complete_upload(log_id, completion).await?;
    state.apply_log_policy(log_id).await;
    Ok(Json(append_reply(&state, client, &appended).await?))
}

/// Rejects an empty upload, because encoded operations are never empty.
fn check_not_empty(bytes: u64) -> Result<(), Failure> {
    if bytes > 0 {
        return Ok(());
    }
    let detail = "`bytes` is 0; send the length of the encoded operations";
    Err(Failure::new(ProblemKind::InvalidRequest, detail))
}

fn parse_checksum(hex_sha256: &str) -> Result<[u8; 32], Failure> {
    parse_sha256(hex_sha256).map_err(|error| Failure::invalid_request(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_an_empty_upload() {
        let failure = check_not_empty(0).unwrap_err();
        assert_eq!(failure.kind(), ProblemKind::InvalidRequest);
        assert!(check_not_empty(1).is_ok());
    }
}
