//! Who is asking, and may they?

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

/// The holder of an accepted token or of a share link. The catalog checks whether the link exists.
#[derive(Clone)]
pub(super) struct Caller(pub(super) Principal);

impl FromRequestParts<ApiState> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Failure> {
        // The token was already verified, before the body was read.
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
        if LinkToken::is_meant(token) {
            let cut = |_| {
                Failure::new(
                    ProblemKind::InvalidLink,
                    "the share link is incomplete; copy it in full",
                )
            };
            let link: LinkToken = token.parse().map_err(cut)?;
            return Ok(Self(Principal::of_link(&link)));
        }
        state.verify(token).await.map(Self).map_err(|error| match error.told() {
            told @ TokenError::KeysUnavailable => {
                Failure::new(ProblemKind::Unavailable, told.to_string())
            }
            told => unauthorized(&told.to_string()),
        })
    }
}

impl Caller {
    /// Returns the log with this id, if the caller has the needed access. An invalid id, or a log that the
    /// caller may not see, gives the same error as a log that does not exist.
    pub(super) async fn log(
        &self,
        state: &ApiState,
        id: &str,
        need: Need,
    ) -> Result<LogId, Failure> {
        let log: LogId = id.parse().map_err(|_| Failure::not_found())?;
        match state.catalog().access(&self.0, log, need).await? {
            Access::Allowed => Ok(log),
            Access::Hidden => Err(self.hidden(log)),
            Access::Forbidden(role) => {
                let detail = format!("role {role} cannot write; role editor is required");
                Err(Failure::new(ProblemKind::Forbidden, detail))
            }
            Access::Archived => Err(Rejection::Archived.into()),
            Access::Deleted { .. } => Err(Rejection::Deleted.into()),
        }
    }

    /// Returns whether the caller may read a spreadsheet.
    pub(super) async fn sees(&self, state: &ApiState, log: LogId) -> Result<bool, Failure> {
        Ok(state.catalog().access(&self.0, log, Need::Read).await? == Access::Allowed)
    }

    /// Returns the log, and the caller's identity and maximum role on it.
    pub(super) fn by(&self, id: &str) -> Result<(LogId, By), Failure> {
        let log: LogId = id.parse().map_err(|_| Failure::not_found())?;
        let by = self.0.by(log).ok_or_else(Failure::not_found)?;
        Ok((log, by))
    }

    /// Returns the error for a spreadsheet that the caller may not see. The error for a share link is the
    /// same whether or not the spreadsheet exists.
    pub(super) fn hidden(&self, log: LogId) -> Failure {
        match self.0.scope {
            Scope::Link { log: of, .. } if of == log => {
                let detail = "the share link does not exist, has expired or was revoked; ask an owner for a new one";
                Failure::new(ProblemKind::InvalidLink, detail)
            }
            _ => Failure::not_found(),
        }
    }
}
