//! Handles `POST /v1/spreadsheets/{id}/pull`, which returns changes to a Replicache client.

use std::collections::BTreeMap;

use axum::extract::State;
use cellar_api::sync::{Cookie, CookieView, entry_key};
use cellar_api::wire::{
    EntryView, PatchOperation, PatchValue, PullReply, PullRequest, PullResponse, SyncError,
};
use cellar_catalog::access::Need;
use cellar_engine::logs::{PullDelta, PullOutcome};

use super::auth::Caller;
use super::extract::{JsonBody, PathId};
use super::json::Json;
use super::reply::Failure;
use super::state::ApiState;
use super::sync::{check_client_group_id, check_versions, error_response};

/// Pull changes for a client group (Replicache)
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/pull",
    operation_id = "pullChanges",
    tag = "Sync",
    request_body = PullRequest,
    responses((status = 200, description = "The changes, or a Replicache error object", body = PullResponse))
))]
pub(super) async fn pull_changes(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    body: JsonBody,
) -> Result<Json<PullResponse>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let request: PullRequest = body.parse()?;
    if let Err(error) = check_versions("pull", request.pull_version, &request.schema_version) {
        return Ok(Json(PullResponse::Error(error)));
    }
    let client_group_id = &request.client_group_id;
    check_client_group_id(client_group_id)?;
    let cookie = match parse_cookie(request.cookie) {
        Ok(cookie) => cookie,
        Err(error) => return Ok(Json(PullResponse::Error(error_response(error)))),
    };
    let outcome =
        state.logs().pull(log_id, caller.principal.subject, client_group_id, cookie).await?;
    Ok(Json(build_response(outcome)))
}

fn build_response(outcome: PullOutcome) -> PullResponse {
    match outcome {
        PullOutcome::UnknownCookie => {
            PullResponse::Error(error_response(SyncError::ClientStateNotFound))
        }
        PullOutcome::Nothing(cookie) => PullResponse::Reply(PullReply {
            cookie: cookie.view(),
            last_mutation_id_changes: BTreeMap::new(),
            patch: Vec::new(),
            more: false,
        }),
        PullOutcome::Since(delta) => PullResponse::Reply(build_reply(delta, Vec::new())),
        PullOutcome::Reset { root, news: delta } => {
            let mut patch = vec![PatchOperation::Clear];
            if let (Some(root), Some(position)) = (root, delta.cookie.snapshot) {
                let value = PatchValue::Root { position, root };
                patch.push(PatchOperation::Put { key: "root".to_owned(), value });
            }
            PullResponse::Reply(build_reply(delta, patch))
        }
    }
}

/// Parses the cookie of a pull request. The server never sends a malformed cookie, so a client that
/// has one must start over with a new client group.
fn parse_cookie(json: serde_json::Value) -> Result<Option<Cookie>, SyncError> {
    let cookie_view: Option<CookieView> =
        serde_json::from_value(json).map_err(|_| SyncError::ClientStateNotFound)?;
    let Some(cookie_view) = cookie_view else { return Ok(None) };
    match Cookie::read(&cookie_view) {
        Some(cookie) => Ok(Some(cookie)),
        None => Err(SyncError::ClientStateNotFound),
    }
}

/// Builds the reply to a pull request: appends the new entries and the new head to `patch`.
fn build_reply(delta: PullDelta, mut patch: Vec<PatchOperation>) -> PullReply {
    for entry in &delta.entries {
        let entry_view = EntryView::from(entry.as_ref());
        patch.push(PatchOperation::Put {
            key: entry_key(entry.position),
            value: PatchValue::Entry(Box::new(entry_view)),
        });
    }
    let Cookie { position, incarnation, .. } = delta.cookie;
    patch.push(PatchOperation::Put {
        key: "head".to_owned(),
        value: PatchValue::Head { position, incarnation },
    });
    PullReply {
        cookie: delta.cookie.view(),
        last_mutation_id_changes: delta.last_ids,
        patch,
        more: delta.more,
    }
}
