//! `GET /v1/config`.

use serde::{Deserialize, Serialize};

/// Public configuration of the stack, which a page reads before a person signs in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StackConfig {
    /// Name of the stack.
    pub stack: String,
    /// Version of the build.
    pub build: String,
    /// The OpenID Connect issuers with which a person can sign in. If empty, a person pastes a token
    /// or opens a share link.
    pub issuers: Vec<LoginIssuer>,
    /// Whether `streamPokes` works. Otherwise, clients poll `getHead`.
    pub pokes: bool,
}

/// An OpenID Connect issuer with which a person can sign in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LoginIssuer {
    /// URL of the issuer, to which `/.well-known/openid-configuration` is appended.
    pub issuer: String,
    /// Client id of the page at the issuer, for the authorization code flow with PKCE.
    pub client_id: String,
    /// The claim `aud` that tokens must contain. If it is the client id, the page sends the ID token,
    /// otherwise the access token for this audience.
    pub audience: String,
    /// Name of the issuer for people. Without it, a page shows the host of `issuer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}
