//! What a token says.

use cellar_base::identity::{LogId, SubjectKey};
use cellar_catalog::access::{Principal, Role, Scope};
use serde::de::{Error as _, IntoDeserializer as _};
use serde::{Deserialize, Deserializer, Serialize};

/// The claims of a token. A claim that comes twice makes the token invalid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Who signed it.
    pub iss: String,
    /// What it is for.
    pub aud: String,
    /// Whose it is.
    pub sub: String,
    /// When it ends, Unix seconds.
    pub exp: u64,
    /// When it begins, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nbf: Option<u64>,
    /// When it was made, Unix seconds.
    pub iat: u64,
    /// Its own id.
    pub jti: String,
    /// What it allows.
    #[serde(deserialize_with = "role")]
    pub role: Role,
    /// Where.
    pub spreadsheets: Spreadsheets,
}

/// The spreadsheets that a token covers: `"*"`, `"shared"` or a list of ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Spreadsheets {
    /// These.
    Only(Vec<LogId>),
    /// Those that a word stands for.
    Named(Named),
}

/// A word for spreadsheets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Named {
    /// All of the stack.
    #[serde(rename = "*")]
    All,
    /// Those that the catalog shares with the token's holder.
    #[serde(rename = "shared")]
    Shared,
}

/// A text and nothing else: by itself serde takes `{"owner": null}` for an `"owner"`, too.
fn role<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Role, D::Error> {
    Role::deserialize(String::deserialize(deserializer)?.into_deserializer())
}

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "*" => Ok(Self::All),
            "shared" => Ok(Self::Shared),
            other => Err(D::Error::custom(format!("`{other}` is neither `*` nor `shared`"))),
        }
    }
}

impl Spreadsheets {
    /// All spreadsheets of the stack.
    #[must_use]
    pub fn all() -> Self {
        Self::Named(Named::All)
    }

    /// Those that the catalog shares with the token's holder.
    #[must_use]
    pub fn shared() -> Self {
        Self::Named(Named::Shared)
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
                Spreadsheets::Named(Named::All) => Scope::All,
                Spreadsheets::Named(Named::Shared) => Scope::Shared,
            },
            role: claims.role,
        }
    }
}
