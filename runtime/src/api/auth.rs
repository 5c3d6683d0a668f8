//! Who is asking, and may they?

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use cellar_core::access::{Access, Need, Principal};
use cellar_core::api::ProblemKind;
use cellar_core::identity::LogId;

use super::reply::Failure;
use super::state::ApiState;
use crate::token::TokenError;

const SCHEME: &str = "Bearer ";

/// Somebody whose token was accepted.
pub(super) struct Caller(pub(super) Principal);

impl FromRequestParts<ApiState> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Failure> {
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
        let refused = |error: TokenError| unauthorized(&error.told().to_string());
        state.verify(token).map(Self).map_err(refused)
    }
}

impl Caller {
    /// The log with this id, if the caller may do that with it; anything that is no id, or that
    /// the token does not cover, looks like what does not exist.
    pub(super) fn log(&self, id: &str, need: Need) -> Result<LogId, Failure> {
        let log: LogId = id.parse().map_err(|_| Failure::not_found())?;
        match self.0.access(log, None, need, 0) {
            Access::Allowed => Ok(log),
            access => Err(refusal(access)),
        }
    }
}

/// What somebody is told who may not do what they want.
fn refusal(access: Access) -> Failure {
    match access {
        Access::Allowed | Access::Hidden => Failure::not_found(),
        Access::Forbidden(role) => {
            let detail = format!("your role is {role}: writing needs editor");
            Failure::new(ProblemKind::Forbidden, detail)
        }
        Access::Archived => {
            let detail = "it can be read and not changed: an owner can restore it";
            Failure::new(ProblemKind::Archived, detail)
        }
        Access::Deleted { until_s } => {
            let detail = format!("you can restore it until {until_s} (Unix seconds)");
            Failure::new(ProblemKind::Deleted, detail)
        }
    }
}
