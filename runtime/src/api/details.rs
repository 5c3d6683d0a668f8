//! Handles `GET /v1/spreadsheets/{id}/details` and `PATCH …/details`, which read and change the
//! details of a spreadsheet.

use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use axum::http::header::{ETAG, IF_MATCH};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use cellar_api::wire::{
    ChangeView, ChangesReply, DetailsReply, ProblemKind, SpreadsheetStatus, UpdateDetailsRequest,
};
use cellar_base::identity::LogId;
use cellar_catalog::access::{Need, Role};
use cellar_catalog::spreadsheet::{By, CatalogAction, Listing, Name, Rejection, Right, Status};
use serde::Deserialize;

use super::auth::Caller;
use super::extract::{JsonBody, Parameters, PathId};
use super::json::Json;
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `listDetailsChanges`.
#[derive(Deserialize)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub(super) struct ChangesParameters {
    /// `next` of the previous page.
    cursor: Option<u64>,
}

/// Spreadsheet details with their `ETag`.
pub(super) struct Details(pub(super) DetailsReply);

impl IntoResponse for Details {
    fn into_response(self) -> Response {
        ([(ETAG, self.0.etag())], Json(self.0)).into_response()
    }
}

/// The details version in the `If-Match` header, if present.
#[derive(Clone, Copy)]
#[cfg_attr(test, derive(utoipa::IntoParams))]
#[cfg_attr(test, into_params(names("If-Match"), parameter_in = Header))]
pub(super) struct ExpectedVersion(
    /// `ETag` of the details that the change is based on; 412 if the details have changed.
    #[cfg_attr(test, param(value_type = Option<String>))]
    Option<u64>,
);

impl<S: Send + Sync> FromRequestParts<S> for ExpectedVersion {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let Some(header) = parts.headers.get(IF_MATCH) else { return Ok(Self(None)) };
        if let Some(version) = header.to_str().ok().and_then(DetailsReply::version_of_etag) {
            return Ok(Self(Some(version)));
        }
        let value = String::from_utf8_lossy(header.as_bytes());
        let detail =
            format!("If-Match `{value}` is not an ETag of the details; send one, such as `\"3\"`");
        Err(Failure::new(ProblemKind::BadRequest, detail))
    }
}

/// Get name, status, members and share links, as far as the caller's role allows
///
/// Members are returned to editors and owners, share links to owners. Owners can also read the details of a deleted
/// spreadsheet.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/details",
    operation_id = "getDetails",
    tag = "Spreadsheets",
    responses((status = 200, description = "The details", body = DetailsReply))
))]
pub(super) async fn get_details(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
) -> Result<Details, Failure> {
    let (log_id, actor) = caller.parse_log_and_actor(&spreadsheet_id)?;
    let listing = state.catalog().read_listing(log_id, actor.right).await?;
    let role = require_role(&state, &caller, log_id, &actor, listing.as_deref())?;
    match listing.as_ref().map(|listing| listing.status) {
        None => check_log_exists(&state, log_id).await?,
        Some(Status::Deleted { .. }) if role < Role::Owner => {
            return Err(caller.hidden_error(log_id));
        }
        Some(_) => {}
    }
    build_details(&state, &caller, log_id, &actor, listing.as_deref()).await
}

/// Returns the actor's role, or an error if the spreadsheet is hidden from the caller.
fn require_role(
    state: &ApiState,
    caller: &Caller,
    log_id: LogId,
    actor: &By,
    listing: Option<&Listing>,
) -> Result<Role, Failure> {
    actor.role(listing, state.now_s()).ok_or_else(|| caller.hidden_error(log_id))
}

/// Checks that a spreadsheet without a catalog entry has a log. Only operators can access such a
/// spreadsheet.
pub(super) async fn check_log_exists(state: &ApiState, log_id: LogId) -> Result<(), Failure> {
    state.logs().head(log_id, None).await?;
    Ok(())
}

/// List changes of the details, newest first
///
/// Requires a token. Share links cannot list changes, because changes identify people. Changes of
/// members and share links are returned only to editors and owners.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/details/changes",
    operation_id = "listDetailsChanges",
    tag = "Spreadsheets",
    params(ChangesParameters),
    responses((status = 200, description = "One page of results", body = ChangesReply))
))]
pub(super) async fn list_details_changes(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    Parameters(parameters): Parameters<ChangesParameters>,
) -> Result<Json<ChangesReply>, Failure> {
    // Archived spreadsheets remain readable.
    let log_id = caller.authorize(&state, &spreadsheet_id, Need::Read).await?;
    let (_, actor) = caller.parse_log_and_actor(&spreadsheet_id)?;
    if actor.is_link() {
        let detail = "share links cannot read who changed the details; use a personal token";
        return Err(Failure::new(ProblemKind::Forbidden, detail));
    }
    let listing = state.catalog().listing(&caller.principal, log_id).await?;
    let role = require_role(&state, &caller, log_id, &actor, listing.as_deref())?;
    if listing.is_none() {
        check_log_exists(&state, log_id).await?;
    }
    let mut page = state.catalog().changes(log_id, parameters.cursor).await?;
    if role < Role::Editor {
        page.events.retain(|dated_event| !dated_event.event.is_sharing());
    }
    let changes = page.events.into_iter().map(ChangeView::from).collect();
    Ok(Json(ChangesReply { changes, next: page.below }))
}

/// Rename, archive, unarchive, delete or undelete a spreadsheet (idempotent)
#[cfg_attr(test, utoipa::path(
    patch,
    path = "/v1/spreadsheets/{id}/details",
    operation_id = "updateDetails",
    tag = "Spreadsheets",
    params(ExpectedVersion),
    request_body = UpdateDetailsRequest,
    responses((status = 200, description = "The new details", body = DetailsReply))
))]
pub(super) async fn update_details(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    expected_version: ExpectedVersion,
    body: JsonBody,
) -> Result<Details, Failure> {
    caller.check_scope_covers(&spreadsheet_id)?;
    let request: UpdateDetailsRequest = body.parse()?;
    let actions = parse_actions(&request)?;
    if actions.is_empty() {
        return get_details(State(state), caller, PathId(spreadsheet_id)).await;
    }
    apply_changes(&state, &caller, &spreadsheet_id, expected_version, actions).await
}

fn parse_actions(request: &UpdateDetailsRequest) -> Result<Vec<CatalogAction>, Failure> {
    let mut actions = Vec::new();
    if let Some(name) = &request.name {
        actions.push(CatalogAction::Rename(Name::new(name)?));
    }
    match request.status {
        None => {}
        // Activate the spreadsheet before renaming it, because an archived or deleted spreadsheet
        // cannot be renamed.
        Some(SpreadsheetStatus::Active) => actions.insert(0, CatalogAction::Activate),
        Some(SpreadsheetStatus::Archived) => actions.push(CatalogAction::Archive),
        Some(SpreadsheetStatus::Deleted) => actions.push(CatalogAction::Delete),
    }
    Ok(actions)
}

/// Applies changes to the spreadsheet's details and returns the new details.
pub(super) async fn apply_changes(
    state: &ApiState,
    caller: &Caller,
    spreadsheet_id: &str,
    ExpectedVersion(mut expected_version): ExpectedVersion,
    actions: Vec<CatalogAction>,
) -> Result<Details, Failure> {
    let (log_id, actor) = caller.parse_log_and_actor(spreadsheet_id)?;
    let mut listing = authorize_changes(state, caller, log_id, &actor, &actions).await?;
    for action in actions {
        let change =
            state.catalog().change(log_id, actor.clone(), action, expected_version).await?;
        listing = change.listing;
        // Each event increases the version of the details by one.
        expected_version = expected_version.map(|version| version + change.events.len() as u64);
    }
    build_details(state, caller, log_id, &actor, listing.as_deref()).await
}

/// Returns the catalog entry of a spreadsheet, or an error if the caller may not perform the
/// actions. The error is the same for a missing spreadsheet and for one that the caller may not
/// view.
async fn authorize_changes(
    state: &ApiState,
    caller: &Caller,
    log_id: LogId,
    actor: &By,
    actions: &[CatalogAction],
) -> Result<Option<Arc<Listing>>, Failure> {
    let role_is_from_token = matches!(actor.right, Right::Token(_));
    // Check the role of the token before reading anything, so that a token with an insufficient
    // role reveals nothing about the spreadsheet.
    if role_is_from_token {
        check_token_role(actor, actions, state.now_s())?;
    }
    let listing = state.catalog().listing(&caller.principal, log_id).await?;
    require_role(state, caller, log_id, actor, listing.as_deref())?;
    if role_is_from_token && listing.is_none() {
        check_log_exists(state, log_id).await?;
    }
    Ok(listing)
}

fn check_token_role(actor: &By, actions: &[CatalogAction], now_s: u64) -> Result<(), Failure> {
    let actual_role = actor.role(None, now_s).ok_or_else(Failure::not_found)?;
    for action in actions {
        let required_role = action.required_role(actor);
        if actual_role < required_role {
            return Err(Rejection::Role { has: actual_role, needs: required_role }.into());
        }
    }
    Ok(())
}

/// Builds the reply with a spreadsheet's details. Omits everything that the caller may not view.
async fn build_details(
    state: &ApiState,
    caller: &Caller,
    log_id: LogId,
    actor: &By,
    listing: Option<&Listing>,
) -> Result<Details, Failure> {
    let mut details = DetailsReply::of(log_id, listing, actor.role(listing, state.now_s()));
    if actor.is_link() {
        details.members = None;
    }
    if let Some(source) = details.source
        && !caller.can_read(state, source).await?
    {
        details.source = None;
    }
    Ok(Details(details))
}
