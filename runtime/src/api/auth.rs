//! Authenticates and authorizes requests.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use cellar_api::wire::ProblemKind;
use cellar_base::identity::LogId;
use cellar_catalog::access::{Access, Need, Principal, Scope};
use cellar_catalog::spreadsheet::{By, LinkToken, Rejection};

use super::reply::Failure;
use super::state::ApiState;
use crate::token::TokenError;

const BEARER_PREFIX: &str = "Bearer ";

/// An authenticated caller, who sent either a token or a share link. A token has already been
/// verified. A share link has not, because the catalog must be read to find out whether it exists.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) principal: Principal,
}

impl FromRequestParts<ApiState> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Failure> {
        // If the request has a body, the `whole_body` middleware has already authenticated it and
        // stored the caller.
        if let Some(caller) = parts.extensions.remove() {
            return Ok(caller);
        }
        let token = bearer_token(&parts.headers)?;
        let principal = if LinkToken::has_prefix(token) {
            parse_link_token(token)?
        } else {
            state.verify(token).await.map_err(from_token_error)?
        };
        Ok(Self { principal })
    }
}

/// Returns the bearer token of a request. Returns an error unless there is exactly one
/// `Authorization` header.
fn bearer_token(headers: &HeaderMap) -> Result<&str, Failure> {
    let unauthorized = |detail: &str| Failure::new(ProblemKind::Unauthorized, detail);
    let mut authorizations = headers.get_all(AUTHORIZATION).iter();
    let Some(authorization) = authorizations.next() else {
        return Err(unauthorized("no token; send the header `Authorization: Bearer <token>`"));
    };
    if authorizations.next().is_some() {
        return Err(unauthorized("there are several `Authorization` headers; send exactly one"));
    }
    let authorization = authorization.to_str().unwrap_or_default();
    match authorization.split_at_checked(BEARER_PREFIX.len()) {
        Some((prefix, token)) if prefix.eq_ignore_ascii_case(BEARER_PREFIX) => Ok(token),
        _ => Err(unauthorized("no bearer token; send the header `Authorization: Bearer <token>`")),
    }
}

fn parse_link_token(token: &str) -> Result<Principal, Failure> {
    let Ok(link_token) = token.parse::<LinkToken>() else {
        let detail = "the share link is incomplete; copy it in full";
        return Err(Failure::new(ProblemKind::InvalidLink, detail));
    };
    Ok(Principal::of_link(&link_token))
}

fn from_token_error(error: TokenError) -> Failure {
    let public_error = error.public();
    let kind = match public_error {
        TokenError::KeysUnavailable => ProblemKind::Unavailable,
        _ => ProblemKind::Unauthorized,
    };
    Failure::new(kind, public_error.to_string())
}

impl Caller {
    /// Parses a log id and checks that the caller may access the log. An invalid id, a missing log
    /// and a log that the caller may not view cause the same error.
    pub(super) async fn authorize(
        &self,
        state: &ApiState,
        spreadsheet_id: &str,
        need: Need,
    ) -> Result<LogId, Failure> {
        let log_id: LogId = spreadsheet_id.parse().map_err(|_| Failure::not_found())?;
        match state.catalog().access(&self.principal, log_id, need).await? {
            Access::Allowed => Ok(log_id),
            Access::Hidden => Err(self.hidden_error(log_id)),
            Access::Forbidden(role) => {
                let detail = format!("role {role} cannot write; role editor is required");
                Err(Failure::new(ProblemKind::Forbidden, detail))
            }
            Access::Archived => Err(Rejection::Archived.into()),
            Access::Deleted { .. } => Err(Rejection::Deleted.into()),
        }
    }

    /// Returns whether the caller may read the spreadsheet with the given log.
    pub(super) async fn can_read(&self, state: &ApiState, log_id: LogId) -> Result<bool, Failure> {
        let access = state.catalog().access(&self.principal, log_id, Need::Read).await?;
        Ok(access == Access::Allowed)
    }

    /// Parses a log id and returns it with the caller's identity and maximum role. Returns an error
    /// if the token's scope excludes the log.
    pub(super) fn parse_log_and_actor(&self, spreadsheet_id: &str) -> Result<(LogId, By), Failure> {
        let log_id: LogId = spreadsheet_id.parse().map_err(|_| Failure::not_found())?;
        let actor = self.principal.by(log_id).ok_or_else(Failure::not_found)?;
        Ok((log_id, actor))
    }

    /// Returns an error if the spreadsheet id is invalid or outside the scope of the caller's token.
    pub(super) fn check_scope_covers(&self, spreadsheet_id: &str) -> Result<(), Failure> {
        self.parse_log_and_actor(spreadsheet_id)?;
        Ok(())
    }

    /// Builds the error for a spreadsheet that the caller may not view. For a share link, the error
    /// does not reveal whether the spreadsheet exists.
    pub(super) fn hidden_error(&self, log_id: LogId) -> Failure {
        match self.principal.scope {
            Scope::Link { log: linked_log_id, .. } if linked_log_id == log_id => {
                let detail = "the share link does not exist, has expired or was revoked; ask an owner for a new one";
                Failure::new(ProblemKind::InvalidLink, detail)
            }
            _ => Failure::not_found(),
        }
    }
}
