//! `GET /v1/spreadsheets/{id}/details` and `PATCH …/details`.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::header::{ETAG, IF_MATCH};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use cellar_api::{
    wire::ChangeView, wire::ChangesReply, wire::DetailsReply, wire::ProblemKind,
    wire::SpreadsheetStatus, wire::UpdateDetailsRequest,
};
use cellar_base::identity::LogId;
use cellar_catalog::access::{Need, Role};
use cellar_catalog::{
    spreadsheet::By, spreadsheet::CatalogAction, spreadsheet::CatalogEvent, spreadsheet::Listing,
    spreadsheet::Name, spreadsheet::Rejection, spreadsheet::Right, spreadsheet::Status,
};
use serde::Deserialize;

use super::auth::Caller;
use super::extract::{JsonBody, Parameters, PathId};
use super::reply::Failure;
use super::state::ApiState;

/// Query parameters of `listDetailsChanges`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangesParameters {
    cursor: Option<u64>,
}

/// Spreadsheet details with their `ETag`.
pub(super) struct Details(pub(super) DetailsReply);

impl IntoResponse for Details {
    fn into_response(self) -> Response {
        ([(ETAG, self.0.etag())], Json(self.0)).into_response()
    }
}

/// Details version from the `If-Match` header.
#[derive(Clone, Copy)]
pub(super) struct ExpectedVersion(Option<u64>);

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
    PathId(id): PathId,
) -> Result<Details, Failure> {
    let (log, by) = caller.identify(&id)?;
    let listing = state.catalog().read_listing(log, by.right).await?;
    let listing = listing.as_deref();
    let role = by.role(listing, state.now_s()).ok_or_else(|| caller.hidden_error(log))?;
    match listing.map(|listing| listing.status) {
        None => drop(state.logs().head(log, None).await?),
        Some(Status::Deleted { .. }) if role < Role::Owner => return Err(caller.hidden_error(log)),
        Some(_) => {}
    }
    details_reply(&state, &caller, log, &by, listing).await
}

/// List changes of the details, newest first
///
/// Requires a token: changes name people, so share links cannot read them. Members are named to editors and owners.
#[cfg_attr(test, utoipa::path(
    get,
    path = "/v1/spreadsheets/{id}/details/changes",
    operation_id = "listDetailsChanges",
    tag = "Spreadsheets",
    params(("cursor" = Option<u64>, Query, description = "`next` of the previous page")),
    responses((status = 200, description = "One page of results", body = ChangesReply))
))]
pub(super) async fn list_details_changes(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    Parameters(parameters): Parameters<ChangesParameters>,
) -> Result<Json<ChangesReply>, Failure> {
    // Archived spreadsheets remain readable.
    let log = caller.authorize(&state, &id, Need::Read).await?;
    let (_, by) = caller.identify(&id)?;
    if by.is_link() {
        let detail = "share links cannot read who changed the details; use a personal token";
        return Err(Failure::new(ProblemKind::Forbidden, detail));
    }
    let listing = state.catalog().listing(&caller.0, log).await?;
    let role =
        by.role(listing.as_deref(), state.now_s()).ok_or_else(|| caller.hidden_error(log))?;
    if listing.is_none() {
        state.logs().head(log, None).await?;
    }
    let page = state.catalog().changes(log, parameters.cursor).await?;
    let is_visible = |event: &CatalogEvent| role >= Role::Editor || !event.is_sharing();
    let events = page.events.into_iter().filter(|dated| is_visible(&dated.event));
    let changes = events.map(ChangeView::from).collect();
    Ok(Json(ChangesReply { changes, next: page.below }))
}

/// Rename, archive, unarchive, delete or undelete a spreadsheet (idempotent)
#[cfg_attr(test, utoipa::path(
    patch,
    path = "/v1/spreadsheets/{id}/details",
    operation_id = "updateDetails",
    tag = "Spreadsheets",
    params(("If-Match" = Option<String>, Header, description = "`ETag` of the details the change is based on; 412 if they have changed")),
    request_body = UpdateDetailsRequest,
    responses((status = 200, description = "The new details", body = DetailsReply))
))]
pub(super) async fn update_details(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    expected: ExpectedVersion,
    body: JsonBody,
) -> Result<Details, Failure> {
    caller.identify(&id)?;
    let request: UpdateDetailsRequest = body.parse()?;
    let rename = request.name.as_deref().map(Name::new).transpose()?.map(CatalogAction::Rename);
    let status = request.status.map(|status| match status {
        SpreadsheetStatus::Active => CatalogAction::Activate,
        SpreadsheetStatus::Archived => CatalogAction::Archive,
        SpreadsheetStatus::Deleted => CatalogAction::Delete,
    });
    // Activate the spreadsheet first; an archived or deleted spreadsheet cannot be renamed.
    let actions = match request.status {
        Some(SpreadsheetStatus::Active) => [status, rename],
        _ => [rename, status],
    };
    let actions: Vec<CatalogAction> = actions.into_iter().flatten().collect();
    if actions.is_empty() {
        return get_details(State(state), caller, PathId(id)).await;
    }
    apply_changes(&state, &caller, &id, expected, actions).await
}

/// Applies changes to the details and returns the new details.
pub(super) async fn apply_changes(
    state: &ApiState,
    caller: &Caller,
    id: &str,
    ExpectedVersion(mut expected): ExpectedVersion,
    actions: Vec<CatalogAction>,
) -> Result<Details, Failure> {
    let (log, by) = caller.identify(id)?;
    // Check the token's role before any read, so that the response to an insufficient token reveals
    // nothing.
    if let Right::Token(_) = by.right {
        let has = by.role(None, state.now_s()).ok_or_else(Failure::not_found)?;
        for needs in actions.iter().map(|action| action.needs(&by)) {
            if has < needs {
                return Err(Rejection::Role { has, needs }.into());
            }
        }
    }
    let mut listing = state.catalog().listing(&caller.0, log).await?;
    by.role(listing.as_deref(), state.now_s()).ok_or_else(|| caller.hidden_error(log))?;
    // Only operators can access a spreadsheet without a catalog entry. Read the head to check that
    // the spreadsheet exists.
    if listing.is_none() && matches!(by.right, Right::Token(_)) {
        state.logs().head(log, None).await?;
    }
    for action in actions {
        let changed = state.catalog().change(log, by.clone(), action, expected).await?;
        listing = changed.listing;
        let own_events = u64::try_from(changed.events.len()).unwrap_or(u64::MAX);
        expected = expected.map(|version| version.saturating_add(own_events));
    }
    details_reply(state, caller, log, &by, listing.as_deref()).await
}

async fn details_reply(
    state: &ApiState,
    caller: &Caller,
    log: LogId,
    by: &By,
    listing: Option<&Listing>,
) -> Result<Details, Failure> {
    let mut details = DetailsReply::of(log, listing, by.role(listing, state.now_s()));
    if by.is_link() {
        details.members = None;
    }
    if let Some(source) = details.source
        && !caller.can_read(state, source).await?
    {
        details.source = None;
    }
    Ok(Details(details))
}
