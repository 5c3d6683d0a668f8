//! `POST /v1/spreadsheets/{id}/links` and `DELETE …/links/{link}`.

use axum::Json;
use axum::extract::State;
use cellar_core::api::{LinkReply, LinkRequest};
use cellar_core::catalog::{Action, Link, LinkId, LinkSecret, LinkToken};

#[cfg(test)]
use cellar_core::{
    api::{DetailsReply, Problem},
    identity::LogId,
};

use super::auth::Caller;
use super::details::{Details, Seen, change};
use super::extract::{JsonBody, PathId, PathLink};
use super::reply::Failure;
use super::state::ApiState;

/// Makes a link: whoever has its token may read or edit the spreadsheet, until it ends. Only a hash of
/// the secret is stored. With the same secret it may be repeated.
#[cfg_attr(test, utoipa::path(
    post,
    path = "/v1/spreadsheets/{id}/links",
    params(
        ("id" = LogId, Path, description = "The spreadsheet"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the details that were seen: \
            if others have changed them since, nothing is done"),
    ),
    request_body = LinkRequest,
    responses(
        (status = 200, description = "The link", body = LinkReply),
        (status = "4XX", description = "What was wrong", body = Problem),
        (status = 503, description = "Repeat the request unchanged", body = Problem),
    ),
    security(("token" = []))
))]
pub(super) async fn add(
    State(state): State<ApiState>,
    caller: Caller,
    PathId(id): PathId,
    seen: Seen,
    body: JsonBody,
) -> Result<Json<LinkReply>, Failure> {
    caller.by(&id)?;
    let LinkRequest { secret, role, label, expires_s } = body.read()?;
    let secret: LinkSecret = secret.parse()?;
    Link::check_label(&label)?;
    let hash = secret.hash();
    let link = Link { hash, role, label, expires_s };
    let details = change(&state, &caller, &id, seen, vec![Action::AddLink(link)]).await?;
    let token = LinkToken { log: details.0.id, secret };
    Ok(Json(LinkReply { id: hash.id().to_string(), token: token.to_string() }))
}

/// Ends a link. Other processes that served its holders may do so for 30 seconds more. It may be
/// repeated.
#[cfg_attr(test, utoipa::path(
    delete,
    path = "/v1/spreadsheets/{id}/links/{link}",
    params(
        ("id" = LogId, Path, description = "The spreadsheet"),
        ("link" = String, Path, description = "What the link is called by: 16 hexadecimal digits"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the details that were seen: \
            if others have changed them since, nothing is done"),
    ),
    responses(
        (status = 200, description = "Its details now", body = DetailsReply),
        (status = "4XX", description = "What was wrong", body = Problem),
        (status = 503, description = "Repeat the request unchanged", body = Problem),
    ),
    security(("token" = []))
))]
pub(super) async fn remove(
    State(state): State<ApiState>,
    caller: Caller,
    PathLink { id, link }: PathLink,
    seen: Seen,
) -> Result<Details, Failure> {
    caller.by(&id)?;
    let link: LinkId = link.parse()?;
    change(&state, &caller, &id, seen, vec![Action::RemoveLink(link)]).await
}
