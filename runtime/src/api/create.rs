//! `POST /v1/spreadsheets`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cellar_api::{wire::CreateReply, wire::CreateRequest, wire::ProblemKind};
use cellar_base::identity::LogId;
use cellar_catalog::{spreadsheet::CatalogAction, spreadsheet::Name};

use super::auth::Caller;
use super::extract::JsonBody;
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
    if !caller.0.may_create() {
        let detail =
            "creating a spreadsheet requires a personal or operator token with role editor";
        return Err(Failure::new(ProblemKind::Forbidden, detail));
    }
    let id = LogId::derive(&caller.0.subject, &request.nonce)?;
    let name = request.name.as_deref().map(Name::new).transpose()?.unwrap_or_default();
    let by = caller.0.by(id).ok_or_else(Failure::not_found)?;
    let created = state.logs().create(id, Some(caller.0.author)).await?;
    // Create the log before the catalog entry, so that no list contains a spreadsheet without a
    // log. If the request fails in between, a retry adds the catalog entry.
    state.catalog().change(id, by, CatalogAction::Create { name, source: None }, None).await?;
    let status = if created.existed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(CreateReply { id, head: created.head, incarnation: created.incarnation })))
}
