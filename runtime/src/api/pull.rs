//! `POST /v1/spreadsheets/{id}/pull`.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use cellar_api::sync::{Cookie, CookieView, entry_key};
use cellar_api::{
    wire::EntryView, wire::PatchOperation, wire::PatchValue, wire::PullReply, wire::PullRequest,
    wire::PullResponse, wire::SyncError,
};
use cellar_base::identity::ClientName;
use cellar_catalog::access::Need;
use cellar_engine::logs::{PullDelta, PullOutcome};

use super::auth::Caller;
use super::extract::{JsonBody, PathId};
use super::reply::Failure;
use super::state::ApiState;
use super::sync::{check_versions, error_response};

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
    PathId(id): PathId,
    body: JsonBody,
) -> Result<Json<PullResponse>, Failure> {
    let log = caller.authorize(&state, &id, Need::Read).await?;
    let request: PullRequest = body.parse()?;
    let version = (request.pull_version, request.schema_version.as_str());
    if let Some(error) = check_versions("pull", version) {
        return Ok(Json(PullResponse::Error(error)));
    }
    let group = &request.client_group_id;
    // Only the client group id needs validation, so pair it with an arbitrary client id.
    ClientName::new(group, group)?;
    let pulled = match parse_cookie(request.cookie) {
        Ok(cookie) => state.logs().pull(log, caller.0.subject, group, cookie).await?,
        Err(UnknownCookie) => PullOutcome::UnknownCookie,
    };
    Ok(Json(match pulled {
        PullOutcome::UnknownCookie => {
            PullResponse::Error(error_response(SyncError::ClientStateNotFound))
        }
        PullOutcome::Nothing(cookie) => PullResponse::Reply(PullReply {
            cookie: cookie.view(),
            last_mutation_id_changes: BTreeMap::new(),
            patch: Vec::new(),
            more: false,
        }),
        PullOutcome::Since(news) => PullResponse::Reply(build_reply(news, Vec::new())),
        PullOutcome::Reset { root, news } => {
            let mut patch = vec![PatchOperation::Clear];
            if let (Some(root), Some(position)) = (root, news.cookie.snapshot) {
                let value = PatchValue::Root { position, root };
                patch.push(PatchOperation::Put { key: "root".to_owned(), value });
            }
            PullResponse::Reply(build_reply(news, patch))
        }
    }))
}

/// This server version never writes cookies in this format.
struct UnknownCookie;

fn parse_cookie(value: serde_json::Value) -> Result<Option<Cookie>, UnknownCookie> {
    let view: Option<CookieView> = serde_json::from_value(value).map_err(|_| UnknownCookie)?;
    view.map(|view| Cookie::read(&view).ok_or(UnknownCookie)).transpose()
}

/// Appends the new entries and the head to `patch` and builds the pull response.
fn build_reply(news: PullDelta, mut patch: Vec<PatchOperation>) -> PullReply {
    let put = |key: String, value| PatchOperation::Put { key, value };
    patch.extend(news.entries.iter().map(|entry| {
        let view = EntryView::from(entry.as_ref());
        put(entry_key(entry.position), PatchValue::Entry(Box::new(view)))
    }));
    let Cookie { position, incarnation, .. } = news.cookie;
    patch.push(put("head".to_owned(), PatchValue::Head { position, incarnation }));
    PullReply {
        cookie: news.cookie.view(),
        last_mutation_id_changes: news.last_ids,
        patch,
        more: news.more,
    }
}
