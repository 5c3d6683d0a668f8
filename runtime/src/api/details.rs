//! `GET /v1/spreadsheets/{id}/details` and `PATCH …/details`.

use axum::Json;
use axum::extract::State;
use cellar_core::access::Role;
use cellar_core::api::{DetailsReply, SpreadsheetStatus, UpdateDetailsRequest};
use cellar_core::catalog::{Action, By, Listing, Name, Rejection, Right, Status};
use cellar_core::identity::LogId;

#[cfg(test)]
use cellar_core::api::Problem;

use super::auth::Caller;
use super::extract::{JsonBody, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// What the catalog says of a spreadsheet, read now, as far as the caller may know it: with whom it is
/// shared for editors, its links for owners. Owners are told of one that is deleted, too.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/details",
    params(("id" = LogId, Path, description = "The spreadsheet")),
    responses(
        (status = 200, description = "Its details", body = DetailsReply),
        (status = "4XX", description = "What was wrong", body = Problem),
    ),
    security(("token" = []))
))]
pub(super) async fn details(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
) -> Result<Json<DetailsReply>, Failure> {
    let (log, by) = caller.by(&id)?;
    let listing = state.catalog().read_listing(log, by.right).await?;
    let listing = listing.as_deref();
    let role = by.role(listing, state.now_s()).ok_or_else(|| caller.hidden(log))?;
    match listing.map(|listing| listing.status) {
        None => drop(state.logs().head(log, None).await?),
        Some(Status::Deleted { .. }) if role < Role::Owner => return Err(caller.hidden(log)),
        Some(_) => {}
    }
    reply(&state, &caller, log, &by, listing).await
}

/// Renames a spreadsheet, archives it, deletes it, or restores it. What is so already stays so: it may be
/// repeated.
#[cfg_attr(test, utoipa::path(
    patch,
    path = "/v1/spreadsheets/{id}/details",
    params(("id" = LogId, Path, description = "The spreadsheet")),
    request_body = UpdateDetailsRequest,
    responses(
        (status = 200, description = "Its details now", body = DetailsReply),
        (status = "4XX", description = "What was wrong", body = Problem),
        (status = 503, description = "Repeat the request unchanged", body = Problem),
    ),
    security(("token" = []))
))]
pub(super) async fn update(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    body: JsonBody,
) -> Result<Json<DetailsReply>, Failure> {
    caller.by(&id)?;
    let request: UpdateDetailsRequest = body.read()?;
    let rename = request.name.as_deref().map(Name::new).transpose()?.map(Action::Rename);
    let status = request.status.map(|status| match status {
        SpreadsheetStatus::Active => Action::Restore,
        SpreadsheetStatus::Archived => Action::Archive,
        SpreadsheetStatus::Deleted => Action::Delete,
    });
    // What is archived or deleted cannot be renamed.
    let actions = match request.status {
        Some(SpreadsheetStatus::Active) => [status, rename],
        _ => [rename, status],
    };
    let actions: Vec<Action> = actions.into_iter().flatten().collect();
    if actions.is_empty() {
        return details(State(state), caller, PathId(id)).await;
    }
    change(&state, &caller, &id, actions).await
}

/// Changes what the catalog says, and answers with what it says then.
pub(super) async fn change(
    state: &ApiState,
    caller: &Caller,
    id: &str,
    actions: Vec<Action>,
) -> Result<Json<DetailsReply>, Failure> {
    let (log, by) = caller.by(id)?;
    // Before anything is read: a token that is not enough learns nothing by trying.
    if let Right::Token(_) = by.right {
        let has = by.role(None, state.now_s()).ok_or_else(Failure::not_found)?;
        for needs in actions.iter().map(|action| action.needs(&by.person)) {
            if has < needs {
                return Err(Rejection::Role { has, needs }.into());
            }
        }
    }
    let mut listing = state.catalog().listing(log, by.right).await?;
    // Only what exists is listed, and that by operators alone.
    if listing.is_none() && matches!(by.right, Right::Token(_)) {
        state.logs().head(log, None).await?;
    }
    for action in actions {
        listing = state.catalog().change(log, by.clone(), action).await?.listing;
    }
    reply(state, caller, log, &by, listing.as_deref()).await
}

async fn reply(
    state: &ApiState,
    caller: &Caller,
    log: LogId,
    by: &By,
    listing: Option<&Listing>,
) -> Result<Json<DetailsReply>, Failure> {
    let role = by.role(listing, state.now_s());
    let mut details = DetailsReply::of(log, listing, role);
    if let Some(source) = details.source
        && !caller.sees(state, source).await?
    {
        details.source = None;
    }
    Ok(Json(details))
}
