//! Roles, token scopes, and decisions on whether a caller has access to a spreadsheet.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{
    spreadsheet::By, spreadsheet::LinkHash, spreadsheet::LinkToken, spreadsheet::Listing,
    spreadsheet::Person, spreadsheet::Right, spreadsheet::Status,
};
use cellar_base::identity::{LogId, SubjectKey};

/// Role of a user or token on a spreadsheet. Each role includes the permissions of the lower roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Role {
    /// May read the spreadsheet.
    Viewer,
    /// May read and edit the spreadsheet.
    Editor,
    /// Allows sharing, archiving and deleting the spreadsheet in addition to editing.
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

/// A string is not the name of a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the roles are viewer, editor and owner")]
pub struct UnknownRole;

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        let roles = [Self::Viewer, Self::Editor, Self::Owner];
        roles.into_iter().find(|role| role.to_string() == text).ok_or(UnknownRole)
    }
}

/// The spreadsheets to which a token applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All spreadsheets of the stack. A token with this scope is an operator token.
    All,
    /// The listed spreadsheets, even if they are not shared with the user.
    Only(Vec<LogId>),
    /// All spreadsheets that are shared with the user.
    Shared,
    Link {
        log: LogId,
        hash: LinkHash,
    },
}

/// An authenticated caller: a user with a verified token, or anyone with a share link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Hash of the token's issuer and subject.
    pub subject: SubjectKey,
    /// Subject of the token, truncated to `MAX_AUTHOR_BYTES`. The history of the spreadsheet shows
    /// it as the author.
    pub author: String,
    /// Issuer of the token.
    pub issuer: String,
    /// Spreadsheets to which the token applies.
    pub scope: Scope,
    /// Highest role that the token grants.
    pub role: Role,
}

/// Permission that a request requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Read,
    Write,
}

/// Result of an access check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Allowed,
    /// Access is denied. The response must be the same as for a spreadsheet that does not exist.
    Hidden,
    /// The caller may read the spreadsheet but not edit it.
    Forbidden(Role),
    Archived,
    /// The spreadsheet is deleted, but the caller may recover it.
    Deleted {
        /// Time until which the spreadsheet can be recovered, in seconds since the Unix epoch.
        until_s: u64,
    },
}

const LINK_ISSUER: &str = "cellar:link";

impl Principal {
    /// Creates the principal of a caller with a share link.
    #[must_use]
    pub fn of_link(link: &LinkToken) -> Self {
        let hash = link.secret.hash();
        let author = format!("link {}", hash.id());
        Self {
            subject: SubjectKey::new(LINK_ISSUER, &author),
            author,
            issuer: LINK_ISSUER.to_owned(),
            scope: Scope::Link { log: link.log, hash },
            role: Role::Owner,
        }
    }

    /// Returns the caller as a user of the catalog, such as a member or the author of a change.
    #[must_use]
    pub fn person(&self) -> Person {
        Person { issuer: self.issuer.clone(), subject: self.author.clone() }
    }

    /// Returns why the caller has a role on a spreadsheet: a token, a membership or a share link.
    /// Returns `None` if the caller's token does not apply to the spreadsheet.
    #[must_use]
    pub fn right(&self, log: LogId) -> Option<Right> {
        match &self.scope {
            Scope::All => Some(Right::Token(self.role)),
            Scope::Only(logs) => logs.contains(&log).then_some(Right::Token(self.role)),
            Scope::Shared => Some(Right::Membership),
            Scope::Link { log: linked, hash } => (*linked == log).then_some(Right::Link(*hash)),
        }
    }

    /// Returns the caller, and why the caller has a role on a spreadsheet. Returns `None` if the
    /// caller's token does not apply to the spreadsheet.
    #[must_use]
    pub fn by(&self, log: LogId) -> Option<By> {
        Some(By { person: self.person(), right: self.right(log)?, cap: self.role })
    }

    /// Checks that the caller has the permission `need` on the spreadsheet `log`.
    ///
    /// `listing` is the catalog record of the spreadsheet. If there is none, only callers whose
    /// token has the scope [`Scope::All`] or [`Scope::Only`] have access.
    #[must_use]
    pub fn access(&self, log: LogId, listing: Option<&Listing>, need: Need, now_s: u64) -> Access {
        let Some(role) = self.by(log).and_then(|by| by.role(listing, now_s)) else {
            return Access::Hidden;
        };
        let status = listing.map(|listing| listing.status);
        if let Some(until_s) = status.and_then(Status::undelete_deadline_s) {
            let is_owner = role == Role::Owner;
            return if is_owner { Access::Deleted { until_s } } else { Access::Hidden };
        }
        match need {
            Need::Read => Access::Allowed,
            Need::Write if role < Role::Editor => Access::Forbidden(role),
            Need::Write if matches!(status, Some(Status::Archived { .. })) => Access::Archived,
            Need::Write => Access::Allowed,
        }
    }

    /// Returns whether the caller may create spreadsheets. A token that lists individual
    /// spreadsheets is not sufficient, because it would not apply to the new spreadsheet.
    #[must_use]
    pub fn may_create(&self) -> bool {
        matches!(self.scope, Scope::All | Scope::Shared) && self.role >= Role::Editor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        spreadsheet::Link, spreadsheet::LinkRole, spreadsheet::LinkSecret, spreadsheet::Member,
        spreadsheet::Name,
    };

    const NOW_S: u64 = 1_000;

    fn log(byte: u8) -> LogId {
        LogId::from_uuid(uuid::Uuid::from_bytes([byte; 16]))
    }

    fn principal(role: Role, scope: Scope) -> Principal {
        Principal {
            subject: SubjectKey::new("cellar", "alice"),
            author: "alice".into(),
            issuer: "cellar".into(),
            scope,
            role,
        }
    }

    fn listing(members: &[(&str, Role)], status: Status) -> Listing {
        let member = |(name, role): &(&str, Role)| Member {
            person: Person::new("cellar", name).unwrap(),
            role: *role,
        };
        Listing {
            name: Name::new("Budget").unwrap(),
            created_s: 1,
            source: None,
            members: members.iter().map(member).collect(),
            links: vec![],
            status,
            changes: 1,
        }
    }

    #[test]
    fn operator_tokens_grant_their_role() {
        for (role, write) in [
            (Role::Viewer, Access::Forbidden(Role::Viewer)),
            (Role::Editor, Access::Allowed),
            (Role::Owner, Access::Allowed),
        ] {
            let others = listing(&[("bob", Role::Owner)], Status::Active);
            for scope in [Scope::All, Scope::Only(vec![log(1)])] {
                let may_create = scope == Scope::All && write == Access::Allowed;
                let somebody = principal(role, scope);
                for listing in [None, Some(&others)] {
                    let access = |need| somebody.access(log(1), listing, need, NOW_S);
                    assert_eq!((access(Need::Read), access(Need::Write)), (Access::Allowed, write));
                }
                assert_eq!(somebody.may_create(), may_create);
            }
            let other = principal(role, Scope::Only(vec![log(2)]));
            for need in [Need::Read, Need::Write] {
                assert_eq!(other.access(log(1), Some(&others), need, NOW_S), Access::Hidden);
            }
        }
    }

    #[test]
    fn members_have_at_most_the_role_of_their_token() {
        for (member, token, read, write) in [
            (None, Role::Owner, Access::Hidden, Access::Hidden),
            (Some(Role::Viewer), Role::Owner, Access::Allowed, Access::Forbidden(Role::Viewer)),
            (Some(Role::Editor), Role::Owner, Access::Allowed, Access::Allowed),
            (Some(Role::Owner), Role::Editor, Access::Allowed, Access::Allowed),
            (Some(Role::Owner), Role::Viewer, Access::Allowed, Access::Forbidden(Role::Viewer)),
        ] {
            let somebody = principal(token, Scope::Shared);
            let members: Vec<_> = member.iter().map(|role| ("alice", *role)).collect();
            let listing = listing(&members, Status::Active);
            let access = |need| somebody.access(log(1), Some(&listing), need, NOW_S);
            assert_eq!((access(Need::Read), access(Need::Write)), (read, write), "{member:?}");
            assert_eq!(somebody.access(log(1), None, Need::Read, NOW_S), Access::Hidden);
        }
    }

    #[test]
    fn subjects_of_other_issuers_have_no_access() {
        let listing = listing(&[("alice", Role::Owner)], Status::Active);
        let other = Principal {
            issuer: "https://elsewhere".into(),
            ..principal(Role::Owner, Scope::Shared)
        };
        assert_eq!(other.access(log(1), Some(&listing), Need::Read, NOW_S), Access::Hidden);
    }

    #[test]
    fn archived_is_read_only_and_deleted_is_visible_to_owners() {
        let archived = Status::Archived { at_s: 1 };
        let deleted = Status::Deleted { at_s: 1 };
        let gone = Access::Deleted { until_s: 1 + cellar_base::limits::DELETED_KEPT_S };
        for (status, role, read, write) in [
            (archived, Role::Viewer, Access::Allowed, Access::Forbidden(Role::Viewer)),
            (archived, Role::Editor, Access::Allowed, Access::Archived),
            (archived, Role::Owner, Access::Allowed, Access::Archived),
            (deleted, Role::Viewer, Access::Hidden, Access::Hidden),
            (deleted, Role::Editor, Access::Hidden, Access::Hidden),
            (deleted, Role::Owner, gone, gone),
            (Status::Purged { at_s: 1 }, Role::Owner, Access::Hidden, Access::Hidden),
        ] {
            let listing = listing(&[("alice", role)], status);
            for somebody in [
                principal(Role::Owner, Scope::Shared),
                principal(role, Scope::All),
                principal(role, Scope::Only(vec![log(1)])),
            ] {
                let access = |need| somebody.access(log(1), Some(&listing), need, NOW_S);
                assert_eq!((access(Need::Read), access(Need::Write)), (read, write), "{status:?}");
            }
        }
    }

    #[test]
    fn a_link_is_valid_for_its_spreadsheet_until_it_expires() {
        let secret = LinkSecret([1; 16]);
        let mut listing = listing(&[("bob", Role::Owner)], Status::Active);
        let label = String::new();
        let expires_s = Some(NOW_S + 1);
        let link = Link { hash: secret.hash(), role: LinkRole::Editor, label, expires_s };
        listing.links.push(link);
        let holder = Principal::of_link(&LinkToken { log: log(1), secret });
        let access = |log, now_s| holder.access(log, Some(&listing), Need::Write, now_s);
        assert_eq!(access(log(1), NOW_S), Access::Allowed);
        assert_eq!(access(log(1), NOW_S + 1), Access::Hidden);
        assert_eq!(access(log(2), NOW_S), Access::Hidden);
        assert_eq!(holder.access(log(1), None, Need::Read, NOW_S), Access::Hidden);
        let stranger = Principal::of_link(&LinkToken { log: log(1), secret: LinkSecret([2; 16]) });
        assert_eq!(stranger.access(log(1), Some(&listing), Need::Read, NOW_S), Access::Hidden);
        assert!(!holder.may_create());
        assert!(holder.author.len() <= cellar_base::limits::MAX_AUTHOR_BYTES);
    }
}
