//! Who may do what: roles, the spreadsheets a token covers, and the decision (I17).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::identity::{LogId, SubjectKey};

/// What a token lets its holder do, from least to most (design `4-sync.md` §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Read.
    Viewer,
    /// Read and append.
    Editor,
    /// Everything.
    Owner,
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Viewer => "viewer",
            Self::Editor => "editor",
            Self::Owner => "owner",
        })
    }
}

/// The spreadsheets that a token covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All of the stack.
    All,
    /// These.
    Only(Vec<LogId>),
}

/// Somebody whose token has been verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Hash of issuer and subject.
    pub subject: SubjectKey,
    /// The subject as the token names it, at most `MAX_AUTHOR_BYTES`: the author in the history.
    pub author: String,
    /// The spreadsheets the token covers.
    pub scope: Scope,
    /// What it allows there.
    pub role: Role,
}

/// What somebody wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Read a spreadsheet.
    Read,
    /// Append to it.
    Write,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Go on.
    Allowed,
    /// Answer exactly as if the spreadsheet did not exist.
    Hidden,
    /// It may be seen but not changed.
    Forbidden,
}

impl Principal {
    /// Decides whether this principal may do `need` with `log`.
    #[must_use]
    pub fn access(&self, log: LogId, need: Need) -> Access {
        let covered = match &self.scope {
            Scope::All => true,
            Scope::Only(logs) => logs.contains(&log),
        };
        match (covered, need) {
            (false, _) => Access::Hidden,
            (true, Need::Write) if self.role < Role::Editor => Access::Forbidden,
            (true, Need::Read | Need::Write) => Access::Allowed,
        }
    }

    /// Whether this principal may create spreadsheets: with a token for one spreadsheet nobody
    /// could read what it creates.
    #[must_use]
    pub fn may_create(&self) -> bool {
        self.scope == Scope::All && self.role >= Role::Editor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_scope_and_need() {
        let log = |byte| LogId::from_uuid(uuid::Uuid::from_bytes([byte; 16]));
        let principal = |role, scope| Principal {
            subject: SubjectKey::new("cellar", "alice"),
            author: "alice".into(),
            scope,
            role,
        };
        for (role, write) in [
            (Role::Viewer, Access::Forbidden),
            (Role::Editor, Access::Allowed),
            (Role::Owner, Access::Allowed),
        ] {
            for scope in [Scope::All, Scope::Only(vec![log(1)])] {
                let may_create = scope == Scope::All && write == Access::Allowed;
                let somebody = principal(role, scope);
                assert_eq!(somebody.access(log(1), Need::Read), Access::Allowed);
                assert_eq!(somebody.access(log(1), Need::Write), write);
                assert_eq!(somebody.may_create(), may_create);
            }
            let other = principal(role, Scope::Only(vec![log(2)]));
            assert_eq!(other.access(log(1), Need::Read), Access::Hidden);
            assert_eq!(other.access(log(1), Need::Write), Access::Hidden);
        }
    }
}
