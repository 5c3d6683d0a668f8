//! Handles `POST /v1/spreadsheets/{id}/forks` and `GET …/forks`, which create and list forks.

use axum::extract::State;
use axum::http::StatusCode;
use cellar_api::wire::{ForkReply, ForkRequest, ForkView, ForksReply, ProblemKind};
use cellar_base::identity::LogId;
use cellar_catalog::access::Need;
use cellar_catalog::spreadsheet::{CatalogAction, Name};
use cellar_engine::logs::NewFork;
use serde::Deserialize;

use super::auth::Caller;
use super::extract::{JsonBody, Parameters, PathId};
use super::json::Json;
use super::position_parameter::find_position;
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `listForks`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct ForksParameters {
    /// `next` of the previous page.
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
    PathId(spreadsheet_id): PathId,
    body: JsonBody,
) -> Result<(StatusCode, Json<ForkReply>), Failure> {
    let source_log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let request: ForkRequest = body.parse()?;
    if !caller.principal.may_create() {
        let detail = "forking requires a personal or operator token with role editor";
        return Err(Failure::new(ProblemKind::Forbidden, detail));
    }
    let fork_log_id = LogId::derive_fork(&caller.principal.subject, source_log_id, &request.nonce)?;
    let name = match &request.name {
        Some(name) => Name::new(name)?,
        None => default_fork_name(&state, &caller, source_log_id).await?,
    };
    let actor = caller.principal.by(fork_log_id).ok_or_else(Failure::not_found)?;
    let at = find_position(&state, source_log_id, request.at, None).await?;
    let new_fork = NewFork {
        log: fork_log_id,
        source: source_log_id,
        at,
        author: Some(caller.principal.author),
    };
    let fork = state.logs().fork(new_fork).await?;
    let create_listing = CatalogAction::Create { name, source: Some(source_log_id) };
    state.catalog().change(fork_log_id, actor, create_listing, None).await?;
    let status = if fork.existed { StatusCode::OK } else { StatusCode::CREATED };
    let reply = ForkReply {
        id: fork_log_id,
        source: fork.source,
        position: fork.position,
        head: fork.head,
        incarnation: fork.incarnation,
    };
    Ok((status, Json(reply)))
}

/// Returns the default name of a fork, which is derived from its source's name.
async fn default_fork_name(
    state: &ApiState,
    caller: &Caller,
    source_log_id: LogId,
) -> Result<Name, Failure> {
    let source_listing = state.catalog().listing(&caller.principal, source_log_id).await?;
    Ok(source_listing.map(|listing| listing.name.of_fork()).unwrap_or_default())
}

/// List the forks that the caller may see, oldest first
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/forks",
    operation_id = "listForks",
    tag = "Forks",
    params(ForksParameters),
    responses((status = 200, description = "One page of results", body = ForksReply))
))]
pub(super) async fn list_forks(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    Parameters(parameters): Parameters<ForksParameters>,
) -> Result<Json<ForksReply>, Failure> {
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let page = state.logs().forks(log_id, parameters.cursor).await?;
    let mut readable_forks = Vec::new();
    for fork in page.forks {
        if caller.can_read(&state, fork.fork).await? {
            readable_forks.push(ForkView {
                id: fork.fork,
                position: fork.position,
                created_s: fork.created_s,
                author: fork.author,
            });
        }
    }
    Ok(Json(ForksReply { forks: readable_forks, next: page.next }))
}
