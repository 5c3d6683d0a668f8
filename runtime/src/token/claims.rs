//! Claims of tokens signed with the stack's own keys.

use cellar_base::identity::{LogId, SubjectKey};
use cellar_catalog::access::{Principal, Role, Scope};
use serde::de::{Error as _, IntoDeserializer as _};
use serde::{Deserialize, Deserializer, Serialize};

/// The claims of a token. A token in which a claim occurs twice is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Issuer.
    pub iss: String,
    /// Audience: the stack.
    pub aud: String,
    /// Subject, which identifies the token's holder.
    pub sub: String,
    /// Expiry time, in Unix seconds.
    pub exp: u64,
    /// Time from which the token is valid, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nbf: Option<u64>,
    /// Time of issue, in Unix seconds.
    pub iat: u64,
    /// Id of the token.
    pub jti: String,
    /// Role that the token grants.
    #[serde(deserialize_with = "deserialize_role")]
    pub role: Role,
    /// The spreadsheets to which the token grants access.
    pub spreadsheets: Spreadsheets,
}

/// The spreadsheets to which a token grants access. In JSON, they are `"*"` (all spreadsheets),
/// `"shared"` (those that are shared with the token's holder) or a list of ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Spreadsheets {
    /// A list of spreadsheets.
    Only(Vec<LogId>),
    /// A set of spreadsheets that is described by a keyword.
    Keyword(Keyword),
}

/// A keyword for a set of spreadsheets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Keyword {
    /// All spreadsheets of the stack.
    #[serde(rename = "*")]
    All,
    /// The spreadsheets that are shared with the token's holder, according to the catalog.
    #[serde(rename = "shared")]
    Shared,
}

/// The derived implementation would also accept `{"owner": null}`.
fn deserialize_role<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Role, D::Error> {
    Role::deserialize(String::deserialize(deserializer)?.into_deserializer())
}

impl<'de> Deserialize<'de> for Keyword {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "*" => Ok(Self::All),
            "shared" => Ok(Self::Shared),
            other => Err(D::Error::custom(format!("`{other}` is neither `*` nor `shared`"))),
        }
    }
}

impl Spreadsheets {
    /// Selects all spreadsheets of the stack.
    #[must_use]
    pub fn all() -> Self {
        Self::Keyword(Keyword::All)
    }

    /// Selects the spreadsheets that are shared with the token's holder, according to the catalog.
    #[must_use]
    pub fn shared() -> Self {
        Self::Keyword(Keyword::Shared)
    }
}

impl From<Claims> for Principal {
    fn from(claims: Claims) -> Self {
        Self {
            subject: SubjectKey::new(&claims.iss, &claims.sub),
            author: claims.sub,
            issuer: claims.iss,
            scope: match claims.spreadsheets {
                Spreadsheets::Only(logs) => Scope::Only(logs),
                Spreadsheets::Keyword(Keyword::All) => Scope::All,
                Spreadsheets::Keyword(Keyword::Shared) => Scope::Shared,
            },
            role: claims.role,
        }
    }
}
