//! Handles `POST /v1/spreadsheets`, which creates a spreadsheet.

use axum::extract::State;
use axum::http::StatusCode;
use cellar_api::wire::{CreateReply, CreateRequest, ProblemKind};
use cellar_base::identity::LogId;
use cellar_catalog::spreadsheet::{CatalogAction, Name};

use super::auth::Caller;
use super::extract::JsonBody;
use super::json::Json;
use super::reply::Failure;
use super::state::ApiState;

/// Create a spreadsheet (idempotent by nonce)
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets",
    operation_id = "createSpreadsheet",
    tag = "Spreadsheets",
    request_body = CreateRequest,
    responses(
        (status = 201, description = "Created", body = CreateReply),
        (status = 200, description = "Already created by an earlier identical request", body = CreateReply),
    )
))]
pub(super) async fn create_spreadsheet(
    State(state): State<ApiState>,
    caller: Caller,
    body: JsonBody,
) -> Result<(StatusCode, Json<CreateReply>), Failure> {
    let request: CreateRequest = body.parse()?;
    if !caller.principal.may_create() {
        let detail =
            "creating a spreadsheet requires a personal or operator token with role editor";
        return Err(Failure::new(ProblemKind::Forbidden, detail));
    }
    let log_id = LogId::derive(&caller.principal.subject, &request.nonce)?;
    let name = match &request.name {
        Some(name) => Name::new(name)?,
        None => Name::default(),
    };
    let actor = caller.principal.by(log_id).ok_or_else(Failure::not_found)?;
    let log = state.logs().create(log_id, Some(caller.principal.author)).await?;
    // Create the log before the catalog entry, so that every spreadsheet in the catalog has a log.
    // If the request fails between the two steps, a retry adds the catalog entry.
    let create_listing = CatalogAction::Create { name, source: None };
    state.catalog().change(log_id, actor, create_listing, None).await?;
    let status = if log.existed { StatusCode::OK } else { StatusCode::CREATED };
    let reply = CreateReply { id: log_id, head: log.head, incarnation: log.incarnation };
    Ok((status, Json(reply)))
}
