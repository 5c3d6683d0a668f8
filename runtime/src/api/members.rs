//! Handles `POST /v1/spreadsheets/{id}/members` and `DELETE …/members`, which add and remove
//! members.

use axum::extract::State;
use cellar_api::wire::{PersonRequest, ShareRequest};
use cellar_catalog::spreadsheet::{BadPerson, CatalogAction, Person};

#[cfg(test)]
use cellar_api::wire::DetailsReply;

use super::auth::Caller;
use super::details::{Details, ExpectedVersion, apply_changes};
use super::extract::{JsonBody, Parameters, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// Share a spreadsheet with a person, or change their role (idempotent)
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/members",
    operation_id = "setMember",
    tag = "Sharing",
    params(ExpectedVersion),
    request_body = ShareRequest,
    responses((status = 200, description = "The new details", body = DetailsReply))
))]
pub(super) async fn set_member(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    expected_version: ExpectedVersion,
    body: JsonBody,
) -> Result<Details, Failure> {
    caller.check_scope_covers(&spreadsheet_id)?;
    let request: ShareRequest = body.parse()?;
    let person = parse_person(&caller, request.issuer.as_deref(), &request.subject)?;
    let share = CatalogAction::Share { with: person, role: request.role };
    apply_changes(&state, &caller, &spreadsheet_id, expected_version, vec![share]).await
}

/// Revoke a person's access; the last owner cannot be removed
///
/// Every member can remove themselves. Servers cache permissions for up to 30 seconds.
#[cfg_attr(test, utoipa::path(
    delete,
    path = "/v1/spreadsheets/{id}/members",
    operation_id = "removeMember",
    tag = "Sharing",
    params(ExpectedVersion, PersonRequest),
    responses((status = 200, description = "The new details", body = DetailsReply))
))]
pub(super) async fn remove_member(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    expected_version: ExpectedVersion,
    Parameters(request): Parameters<PersonRequest>,
) -> Result<Details, Failure> {
    caller.check_scope_covers(&spreadsheet_id)?;
    let person = parse_person(&caller, request.issuer.as_deref(), &request.subject)?;
    apply_changes(
        &state,
        &caller,
        &spreadsheet_id,
        expected_version,
        vec![CatalogAction::Unshare(person)],
    )
    .await
}

/// Parses the issuer and subject of a person. If the issuer is omitted, the caller's issuer is
/// used.
fn parse_person(caller: &Caller, issuer: Option<&str>, subject: &str) -> Result<Person, BadPerson> {
    Person::new(issuer.unwrap_or(&caller.principal.issuer), subject)
}
