//! Who is asking, and may they?

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use cellar_core::access::{Access, Need, Principal, Scope};
use cellar_core::api::ProblemKind;
use cellar_core::catalog::{By, LinkToken, Rejection};
use cellar_core::identity::LogId;

use super::reply::Failure;
use super::state::ApiState;
use crate::token::TokenError;

const SCHEME: &str = "Bearer ";

/// Somebody whose token was accepted, or who has a link; the catalog says whether there is such a link.
#[derive(Clone)]
pub(super) struct Caller(pub(super) Principal);

impl FromRequestParts<ApiState> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Failure> {
        // Accepted before the body was kept.
        if let Some(caller) = parts.extensions.remove() {
            return Ok(caller);
        }
        let unauthorized = |why: &str| Failure::new(ProblemKind::Unauthorized, why);
        let mut headers = parts.headers.get_all(AUTHORIZATION).iter();
        let (Some(header), None) = (headers.next(), headers.next()) else {
            return Err(unauthorized("send one header `Authorization: Bearer <token>`"));
        };
        let text = header.to_str().unwrap_or_default();
        let scheme = text.get(..SCHEME.len()).unwrap_or_default();
        if !scheme.eq_ignore_ascii_case(SCHEME) {
            return Err(unauthorized("send the header `Authorization: Bearer <token>`"));
        }
        let token = text.get(SCHEME.len()..).unwrap_or_default();
        if LinkToken::is_meant(token) {
            let cut = |_| Failure::new(ProblemKind::LinkEnded, "this is no link: copy all of it");
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
    /// The log with this id, if the caller may do that with it; anything that is no id, or that the
    /// caller may not see, looks like what does not exist.
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
                let detail = format!("your role is {role}: writing needs editor");
                Err(Failure::new(ProblemKind::Forbidden, detail))
            }
            Access::Archived => Err(Rejection::Archived.into()),
            Access::Deleted { .. } => Err(Rejection::Deleted.into()),
        }
    }

    /// Whether the caller may see another spreadsheet.
    pub(super) async fn sees(&self, state: &ApiState, log: LogId) -> Result<bool, Failure> {
        Ok(state.catalog().access(&self.0, log, Need::Read).await? == Access::Allowed)
    }

    /// Who the caller is on this spreadsheet.
    pub(super) fn by(&self, id: &str) -> Result<(LogId, By), Failure> {
        let log: LogId = id.parse().map_err(|_| Failure::not_found())?;
        let by = self.0.by(log).ok_or_else(Failure::not_found)?;
        Ok((log, by))
    }

    /// What the caller is told of a spreadsheet that they may not see. A link shows one: that it does
    /// no longer is said whether there is one or not.
    pub(super) fn hidden(&self, log: LogId) -> Failure {
        match self.0.scope {
            Scope::Link { log: of, .. } if of == log => {
                let detail = "the link has ended, or there never was one: ask for a new one";
                Failure::new(ProblemKind::LinkEnded, detail)
            }
            _ => Failure::not_found(),
        }
    }
}
