//! `POST /v1/spreadsheets/{id}/forks` and `GET …/forks`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cellar_api::{
    wire::ForkReply, wire::ForkRequest, wire::ForkView, wire::ForksReply, wire::ProblemKind,
};
use cellar_base::identity::LogId;
use cellar_catalog::access::Need;
use cellar_catalog::{spreadsheet::CatalogAction, spreadsheet::Name};
use cellar_engine::logs::NewFork;
use serde::Deserialize;

use super::auth::Caller;
use super::extract::{JsonBody, Parameters, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `listForks`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ForksParameters {
    cursor: Option<u64>,
}

/// Fork a spreadsheet at a position (idempotent by nonce)
///
/// The cost does not depend on the size of the spreadsheet. A token for the fork grants access to everything that the
/// fork inherits, and to nothing else of its source.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/forks",
    operation_id = "createFork",
    tag = "Forks",
    request_body = ForkRequest,
    responses(
        (status = 201, description = "Created", body = ForkReply),
        (status = 200, description = "Already created by an earlier identical request", body = ForkReply),
    )
))]
pub(super) async fn create_fork(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    body: JsonBody,
) -> Result<(StatusCode, Json<ForkReply>), Failure> {
    let source = caller.authorize(&state, &id, Need::Read).await?;
    let request: ForkRequest = body.parse()?;
    if !caller.0.may_create() {
        let detail = "forking requires a personal or operator token with role editor";
        return Err(Failure::new(ProblemKind::Forbidden, detail));
    }
    let id = LogId::derive_fork(&caller.0.subject, source, &request.nonce)?;
    let name = match &request.name {
        Some(name) => Name::new(name)?,
        None => default_name(&state, &caller, source).await?,
    };
    let by = caller.0.by(id).ok_or_else(Failure::not_found)?;
    let new = NewFork { log: id, source, at: request.at, author: Some(caller.0.author) };
    let forked = state.logs().fork(new).await?;
    state
        .catalog()
        .change(id, by, CatalogAction::Create { name, source: Some(source) }, None)
        .await?;
    let status = if forked.existed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((
        status,
        Json(ForkReply {
            id,
            source: forked.source,
            position: forked.position,
            head: forked.head,
            incarnation: forked.incarnation,
        }),
    ))
}

/// Derives a fork's default name from the name of the source spreadsheet.
async fn default_name(state: &ApiState, caller: &Caller, source: LogId) -> Result<Name, Failure> {
    let listing = state.catalog().listing(&caller.0, source).await?;
    Ok(listing.map(|listing| listing.name.of_fork()).unwrap_or_default())
}

/// List the forks that the caller may see, oldest first
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/forks",
    operation_id = "listForks",
    tag = "Forks",
    params(("cursor" = Option<u64>, Query, description = "`next` of the previous page")),
    responses((status = 200, description = "One page of results", body = ForksReply))
))]
pub(super) async fn list_forks(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    Parameters(parameters): Parameters<ForksParameters>,
) -> Result<Json<ForksReply>, Failure> {
    let log = caller.authorize(&state, &id, Need::Read).await?;
    let page = state.logs().forks(log, parameters.cursor).await?;
    let mut forks = Vec::new();
    for listed in page.forks {
        if caller.can_read(&state, listed.fork).await? {
            forks.push(listed);
        }
    }
    let view = |listed: cellar_log::records::fork::ListedFork| ForkView {
        id: listed.fork,
        position: listed.position,
        created_s: listed.created_s,
        author: listed.author,
    };
    Ok(Json(ForksReply { forks: forks.into_iter().map(view).collect(), next: page.next }))
}
