//! `POST /v1/spreadsheets/{id}/members` and `DELETE …/members`.

use axum::extract::State;
use cellar_core::api::{PersonRequest, ShareRequest};
use cellar_core::catalog::{Action, BadPerson, Person};

#[cfg(test)]
use cellar_core::{
    api::{DetailsReply, Problem},
    identity::LogId,
};

use super::auth::Caller;
use super::details::{Details, Seen, change};
use super::extract::{JsonBody, Parameters, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// Shares a spreadsheet with somebody, or changes what they may do. It may be repeated.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/members",
    params(
        ("id" = LogId, Path, description = "The spreadsheet"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the details that were seen: \
            if others have changed them since, nothing is done"),
    ),
    request_body = ShareRequest,
    responses(
        (status = 200, description = "Its details now", body = DetailsReply),
        (status = "4XX", description = "What was wrong", body = Problem),
        (status = 503, description = "Repeat the request unchanged", body = Problem),
    ),
    security(("token" = []))
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
    change(&state, &caller, &id, seen, vec![Action::Share { with, role: request.role }]).await
}

/// Shares a spreadsheet with somebody no longer. Everybody may leave, but the last owner. Other processes
/// that served them may do so for 30 seconds more. It may be repeated.
#[cfg_attr(test, utoipa::path(
    delete,
    path = "/v1/spreadsheets/{id}/members",
    params(
        ("id" = LogId, Path, description = "The spreadsheet"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the details that were seen: \
            if others have changed them since, nothing is done"),
        PersonRequest,
    ),
    responses(
        (status = 200, description = "Its details now", body = DetailsReply),
        (status = "4XX", description = "What was wrong", body = Problem),
        (status = 503, description = "Repeat the request unchanged", body = Problem),
    ),
    security(("token" = []))
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
    change(&state, &caller, &id, seen, vec![Action::Unshare(person)]).await
}

/// Somebody, of the caller's issuer if no other is named.
fn person(caller: &Caller, issuer: Option<&str>, subject: &str) -> Result<Person, BadPerson> {
    Person::new(issuer.unwrap_or(&caller.0.issuer), subject)
}
