//! `POST /v1/spreadsheets/{id}/pull`.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use cellar_api::sync::{Cookie, CookieView, entry_key};
use cellar_api::{
    wire::EntryView, wire::PatchOperation, wire::PatchValue, wire::PullReply, wire::PullRequest,
    wire::SyncAnswer, wire::SyncError,
};
use cellar_base::identity::ClientName;
use cellar_catalog::access::Need;
use cellar_engine::logs::{PullDelta, PullOutcome};

use super::auth::Caller;
use super::extract::{JsonBody, PathId};
use super::reply::Failure;
use super::state::ApiState;
use super::sync::{self, unsupported};

/// Pull changes for a client group (Replicache)
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/pull",
    operation_id = "pullChanges",
    tag = "Sync",
    request_body = PullRequest,
    responses((status = 200, description = "The changes, or a Replicache error object", body = SyncAnswer<PullReply>))
))]
pub(super) async fn pull(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    body: JsonBody,
) -> Result<Json<SyncAnswer<PullReply>>, Failure> {
    let log = caller.log(&state, &id, Need::Read).await?;
    let request: PullRequest = body.read()?;
    if let Some(refusal) = unsupported("pull", request.pull_version, &request.schema_version) {
        return Ok(Json(SyncAnswer::Refused(refusal)));
    }
    let group = &request.client_group_id;
    // A client of any name would do: only the group's is checked.
    ClientName::new(group, group)?;
    let pulled = match cookie(request.cookie) {
        Ok(cookie) => state.logs().pull(log, caller.0.subject, group, cookie).await?,
        Err(NoCookie) => PullOutcome::UnknownCookie,
    };
    Ok(Json(match pulled {
        PullOutcome::UnknownCookie => {
            SyncAnswer::Refused(sync::refusal(SyncError::ClientStateNotFound))
        }
        PullOutcome::Nothing(cookie) => SyncAnswer::Done(PullReply {
            cookie: cookie.view(),
            last_mutation_id_changes: BTreeMap::new(),
            patch: Vec::new(),
            more: false,
        }),
        PullOutcome::Since(news) => SyncAnswer::Done(reply(news, Vec::new())),
        PullOutcome::Reset { root, news } => {
            let value = root.zip(news.cookie.snapshot);
            let value = value.map(|(root, position)| PatchValue::Root { position, root });
            let put = value.map(|value| PatchOperation::Put { key: "root".to_owned(), value });
            SyncAnswer::Done(reply(news, [PatchOperation::Clear].into_iter().chain(put).collect()))
        }
    }))
}

/// A cookie that this server does not write.
struct NoCookie;

fn cookie(value: serde_json::Value) -> Result<Option<Cookie>, NoCookie> {
    let view: Option<CookieView> = serde_json::from_value(value).map_err(|_| NoCookie)?;
    view.map(|view| Cookie::read(&view).ok_or(NoCookie)).transpose()
}

fn reply(news: PullDelta, mut patch: Vec<PatchOperation>) -> PullReply {
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
