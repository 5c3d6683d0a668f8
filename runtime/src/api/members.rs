//! `POST /v1/spreadsheets/{id}/members` and `DELETE …/members`.

use axum::extract::State;
use cellar_api::{wire::PersonRequest, wire::ShareRequest};
use cellar_catalog::{spreadsheet::BadPerson, spreadsheet::CatalogAction, spreadsheet::Person};

#[cfg(test)]
use cellar_api::wire::DetailsReply;

use super::auth::Caller;
use super::details::{Details, Seen, change};
use super::extract::{JsonBody, Parameters, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// Share a spreadsheet with a person, or change their role (idempotent)
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/members",
    operation_id = "setMember",
    tag = "Sharing",
    params(("If-Match" = Option<String>, Header, description = "`ETag` of the details the change is based on; 412 if they have changed")),
    request_body = ShareRequest,
    responses((status = 200, description = "The new details", body = DetailsReply))
))]
pub(super) async fn share(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    seen: Seen,
    body: JsonBody,
) -> Result<Details, Failure> {
    caller.by(&id)?;
    let request: ShareRequest = body.read()?;
    let with = person(&caller, request.issuer.as_deref(), &request.subject)?;
    change(&state, &caller, &id, seen, vec![CatalogAction::Share { with, role: request.role }])
        .await
}

/// Revoke a person's access; the last owner cannot be removed
///
/// Every member can remove themselves. Servers cache permissions for up to 30 seconds.
#[cfg_attr(test, utoipa::path(
    delete,
    path = "/v1/spreadsheets/{id}/members",
    operation_id = "removeMember",
    tag = "Sharing",
    params(
        ("If-Match" = Option<String>, Header, description = "`ETag` of the details the change is based on; 412 if they have changed"),
        PersonRequest,
    ),
    responses((status = 200, description = "The new details", body = DetailsReply))
))]
pub(super) async fn unshare(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    seen: Seen,
    Parameters(request): Parameters<PersonRequest>,
) -> Result<Details, Failure> {
    caller.by(&id)?;
    let person = person(&caller, request.issuer.as_deref(), &request.subject)?;
    change(&state, &caller, &id, seen, vec![CatalogAction::Unshare(person)]).await
}

/// Somebody, of the caller's issuer if no other is named.
fn person(caller: &Caller, issuer: Option<&str>, subject: &str) -> Result<Person, BadPerson> {
    Person::new(issuer.unwrap_or(&caller.0.issuer), subject)
}
