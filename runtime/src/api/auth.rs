//! Authentication and authorization of requests.

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use cellar_api::wire::ProblemKind;
use cellar_base::identity::LogId;
use cellar_catalog::access::{Access, Need, Principal, Scope};
use cellar_catalog::{spreadsheet::By, spreadsheet::LinkToken, spreadsheet::Rejection};

use super::reply::Failure;
use super::state::ApiState;
use crate::token::TokenError;

const SCHEME: &str = "Bearer ";

/// Extracts the holder of a verified token or share link. Whether the share link still exists is
/// checked later, against the catalog.
#[derive(Clone)]
pub(super) struct Caller(pub(super) Principal);

impl FromRequestParts<ApiState> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Failure> {
        // The `whole_body` middleware verified the token before it read the body.
        if let Some(caller) = parts.extensions.remove() {
            return Ok(caller);
        }
        let unauthorized = |why: &str| Failure::new(ProblemKind::Unauthorized, why);
        let mut headers = parts.headers.get_all(AUTHORIZATION).iter();
        let (Some(header), None) = (headers.next(), headers.next()) else {
            return Err(unauthorized(
                "exactly one header `Authorization: Bearer <token>` is required",
            ));
        };
        let text = header.to_str().unwrap_or_default();
        let scheme = text.get(..SCHEME.len()).unwrap_or_default();
        if !scheme.eq_ignore_ascii_case(SCHEME) {
            return Err(unauthorized(
                "no bearer token; send the header `Authorization: Bearer <token>`",
            ));
        }
        let token = text.get(SCHEME.len()..).unwrap_or_default();
        if !LinkToken::has_prefix(token) {
            return state.verify(token).await.map(Self).map_err(from_token_error);
        }
        let incomplete = |_| {
            let detail = "the share link is incomplete; copy it in full";
            Failure::new(ProblemKind::InvalidLink, detail)
        };
        let link: LinkToken = token.parse().map_err(incomplete)?;
        Ok(Self(Principal::of_link(&link)))
    }
}

fn from_token_error(error: TokenError) -> Failure {
    let error = error.public();
    let kind = match error {
        TokenError::KeysUnavailable => ProblemKind::Unavailable,
        _ => ProblemKind::Unauthorized,
    };
    Failure::new(kind, error.to_string())
}

impl Caller {
    /// Parses a log id and checks the caller's access. Returns the same error for invalid ids,
    /// missing logs and logs that the caller may not see.
    pub(super) async fn authorize(
        &self,
        state: &ApiState,
        id: &str,
        need: Need,
    ) -> Result<LogId, Failure> {
        let log: LogId = id.parse().map_err(|_| Failure::not_found())?;
        match state.catalog().access(&self.0, log, need).await? {
            Access::Allowed => Ok(log),
            Access::Hidden => Err(self.hidden_error(log)),
            Access::Forbidden(role) => {
                let detail = format!("role {role} cannot write; role editor is required");
                Err(Failure::new(ProblemKind::Forbidden, detail))
            }
            Access::Archived => Err(Rejection::Archived.into()),
            Access::Deleted { .. } => Err(Rejection::Deleted.into()),
        }
    }

    /// Returns whether the caller may read the spreadsheet with the given log.
    pub(super) async fn can_read(&self, state: &ApiState, log: LogId) -> Result<bool, Failure> {
        Ok(state.catalog().access(&self.0, log, Need::Read).await? == Access::Allowed)
    }

    /// Parses a log id. Returns the id, the caller's identity and the caller's maximum role on the
    /// log.
    pub(super) fn identify(&self, id: &str) -> Result<(LogId, By), Failure> {
        let log: LogId = id.parse().map_err(|_| Failure::not_found())?;
        let by = self.0.by(log).ok_or_else(Failure::not_found)?;
        Ok((log, by))
    }

    /// Builds the error for a spreadsheet that the caller may not see. For a share link, the error
    /// is the same whether or not the spreadsheet exists.
    pub(super) fn hidden_error(&self, log: LogId) -> Failure {
        match self.0.scope {
            Scope::Link { log: of, .. } if of == log => {
                let detail = "the share link does not exist, has expired or was revoked; ask an owner for a new one";
                Failure::new(ProblemKind::InvalidLink, detail)
            }
            _ => Failure::not_found(),
        }
    }
}
