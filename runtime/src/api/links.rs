//! Handles `POST /v1/spreadsheets/{id}/links` and `DELETE …/links/{link_id}`, which create and
//! revoke share links.

use axum::extract::State;
use cellar_api::wire::{LinkReply, LinkRequest};
use cellar_catalog::spreadsheet::{CatalogAction, Link, LinkId, LinkSecret, LinkToken};

#[cfg(test)]
use cellar_api::wire::DetailsReply;

use super::auth::Caller;
use super::details::{Details, ExpectedVersion, apply_changes};
use super::extract::{JsonBody, PathId, PathLink};
use super::json::Json;
use super::reply::Failure;
use super::state::ApiState;

/// Create a share link (idempotent by secret)
///
/// Everyone with the token of the link can read or edit the spreadsheet until it expires. Only a hash of the secret is
/// stored.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/links",
    operation_id = "createLink",
    tag = "Sharing",
    params(ExpectedVersion),
    request_body = LinkRequest,
    responses((status = 200, description = "The share link", body = LinkReply))
))]
pub(super) async fn create_link(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(spreadsheet_id): PathId,
    expected_version: ExpectedVersion,
    body: JsonBody,
) -> Result<Json<LinkReply>, Failure> {
    caller.check_scope_covers(&spreadsheet_id)?;
    let LinkRequest { secret, role, label, expires_s } = body.parse()?;
    let secret: LinkSecret = secret.parse()?;
    Link::check_label(&label)?;
    let hash = secret.hash();
    let link = Link { hash, role, label, expires_s };
    let actions = vec![CatalogAction::AddLink(link)];
    let details =
        apply_changes(&state, &caller, &spreadsheet_id, expected_version, actions).await?;
    let token = LinkToken { log: details.0.id, secret };
    Ok(Json(LinkReply { id: hash.id().to_string(), token: token.to_string() }))
}

/// Revoke a share link
///
/// Servers cache permissions for up to 30 seconds.
#[cfg_attr(test, utoipa::path(
    delete,
    path = "/v1/spreadsheets/{id}/links/{link_id}",
    operation_id = "revokeLink",
    tag = "Sharing",
    params(
        ("link_id" = String, Path, description = "Id of the link, 16 hexadecimal digits"),
        ExpectedVersion,
    ),
    responses((status = 200, description = "The new details", body = DetailsReply))
))]
pub(super) async fn revoke_link(
    State(state): State<ApiState>,
    caller: Caller,
    PathLink { spreadsheet_id, link_id }: PathLink,
    expected_version: ExpectedVersion,
) -> Result<Details, Failure> {
    caller.check_scope_covers(&spreadsheet_id)?;
    let link_id: LinkId = link_id.parse()?;
    let actions = vec![CatalogAction::RemoveLink(link_id)];
    apply_changes(&state, &caller, &spreadsheet_id, expected_version, actions).await
}
