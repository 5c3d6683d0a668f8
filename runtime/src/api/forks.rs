//! `POST /v1/spreadsheets/{id}/forks` and `GET …/forks`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cellar_core::access::Need;
use cellar_core::api::{ForkReply, ForkRequest, ForkView, ForksReply, ProblemKind};
use cellar_core::catalog::{Action, Name};
use cellar_core::identity::LogId;
use cellar_engine::logs::NewFork;
use serde::Deserialize;

#[cfg(test)]
use cellar_core::api::Problem;

use super::auth::Caller;
use super::extract::{JsonBody, Parameters, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// Parameters of a list of forks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AfterNumber {
    after: Option<u64>,
}

/// Forks a spreadsheet at any position, or finds the fork that the same request made before. What it
/// costs does not depend on the spreadsheet's size. A token for the fork alone reads what the fork
/// inherits, and nothing else of the spreadsheet that it comes from.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/forks",
    params(("id" = LogId, Path, description = "The spreadsheet to fork")),
    request_body = ForkRequest,
    responses(
        (status = 201, description = "Forked", body = ForkReply),
        (status = 200, description = "Forked before by the same request", body = ForkReply),
        (status = "4XX", description = "What was wrong", body = Problem),
        (status = 503, description = "Repeat the request unchanged", body = Problem),
    ),
    security(("token" = []))
))]
pub(super) async fn fork(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    body: JsonBody,
) -> Result<(StatusCode, Json<ForkReply>), Failure> {
    let source = caller.log(&state, &id, Need::Read).await?;
    let request: ForkRequest = body.read()?;
    if !caller.0.may_create() {
        let detail =
            "forking needs a token of your own, or for all spreadsheets, with the role editor";
        return Err(Failure::new(ProblemKind::Forbidden, detail));
    }
    let id = LogId::derive_fork(&caller.0.subject, source, &request.nonce)?;
    let name = request.name.as_deref().map(Name::new).transpose()?;
    let name = match name {
        Some(name) => name,
        None => name_after(&state, &caller, source).await?,
    };
    let by = caller.0.by(id).ok_or_else(Failure::not_found)?;
    let new = NewFork { log: id, source, at: request.at, author: Some(caller.0.author) };
    let forked = state.logs().fork(new).await?;
    state.catalog().change(id, by, Action::Create { name, source: Some(source) }, None).await?;
    let status = if forked.existed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((
        status,
        Json(ForkReply {
            id,
            source: forked.source,
            position: forked.position,
            head: forked.head,
            epoch: forked.epoch,
        }),
    ))
}

/// What a fork is called that was given no name.
async fn name_after(state: &ApiState, caller: &Caller, source: LogId) -> Result<Name, Failure> {
    let listing = state.catalog().listing(&caller.0, source).await?;
    Ok(listing.map(|listing| listing.name.of_fork()).unwrap_or_default())
}

/// Forks of a spreadsheet that the caller may see, the oldest first.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/forks",
    params(
        ("id" = LogId, Path, description = "The spreadsheet that was forked"),
        ("after" = Option<u64>, Query, description = "The `next` of the page before"),
    ),
    responses(
        (status = 200, description = "One page of its forks", body = ForksReply),
        (status = "4XX", description = "What was wrong", body = Problem),
    ),
    security(("token" = []))
))]
pub(super) async fn forks(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    Parameters(parameters): Parameters<AfterNumber>,
) -> Result<Json<ForksReply>, Failure> {
    let log = caller.log(&state, &id, Need::Read).await?;
    let page = state.logs().forks(log, parameters.after).await?;
    let mut forks = Vec::new();
    for listed in page.forks {
        if caller.sees(&state, listed.fork).await? {
            forks.push(listed);
        }
    }
    let view = |listed: cellar_core::records::fork::ListedFork| ForkView {
        id: listed.fork,
        position: listed.position,
        created: listed.created_s,
        author: listed.author,
    };
    Ok(Json(ForksReply { forks: forks.into_iter().map(view).collect(), next: page.next }))
}
