//! Who may do what: roles, the spreadsheets a token covers, and the decision (I17).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{
    spreadsheet::By, spreadsheet::LinkHash, spreadsheet::LinkToken, spreadsheet::Listing,
    spreadsheet::Person, spreadsheet::Right, spreadsheet::Status,
};
use cellar_base::identity::{LogId, SubjectKey};

/// What a token lets its holder do, from least to most (design `4-sync.md` §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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

/// A text that names no role.
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

/// The spreadsheets that a token covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All of the stack: an operator's.
    All,
    /// These: an operator gave it out for them.
    Only(Vec<LogId>),
    /// Those that the catalog shares with its holder.
    Shared,
    /// The one that a link is to.
    Link {
        /// The spreadsheet.
        log: LogId,
        /// The hash of the link's secret.
        hash: LinkHash,
    },
}

/// Somebody whose token has been verified, or who has a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Hash of issuer and subject.
    pub subject: SubjectKey,
    /// The subject as the token names it, at most `MAX_AUTHOR_BYTES`: the author in the history.
    pub author: String,
    /// Who says so: the token's issuer.
    pub issuer: String,
    /// The spreadsheets the token covers.
    pub scope: Scope,
    /// The most that it allows there.
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
    /// It may be seen but not changed, in this role.
    Forbidden(Role),
    /// Nobody changes it: it is archived.
    Archived,
    /// Nobody sees it, but this one may restore it until then, Unix seconds.
    Deleted {
        /// When it is gone.
        until_s: u64,
    },
}

/// The issuer of those who come with a link.
const LINK_ISSUER: &str = "cellar:link";

impl Principal {
    /// Whoever has a link.
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

    /// Who they are to the catalog.
    #[must_use]
    pub fn person(&self) -> Person {
        Person { issuer: self.issuer.clone(), subject: self.author.clone() }
    }

    /// What may give them a role on this spreadsheet; `None` if nothing can.
    #[must_use]
    pub fn right(&self, log: LogId) -> Option<Right> {
        match &self.scope {
            Scope::All => Some(Right::Token(self.role)),
            Scope::Only(logs) => logs.contains(&log).then_some(Right::Token(self.role)),
            Scope::Shared => Some(Right::Membership),
            Scope::Link { log: of, hash } => (*of == log).then_some(Right::Link(*hash)),
        }
    }

    /// Who they are on this spreadsheet, and by what right; `None` if nothing can give them one.
    #[must_use]
    pub fn by(&self, log: LogId) -> Option<By> {
        Some(By { person: self.person(), right: self.right(log)?, cap: self.role })
    }

    /// Decides whether this principal may do `need` with `log`, of which the catalog says `listing`
    /// (design `6-catalog-feed.md` §2). What is not in the catalog is for operators' tokens alone.
    #[must_use]
    pub fn access(&self, log: LogId, listing: Option<&Listing>, need: Need, now_s: u64) -> Access {
        let Some(role) = self.by(log).and_then(|by| by.role(listing, now_s)) else {
            return Access::Hidden;
        };
        match (listing.map(|listing| listing.status), need) {
            (Some(status @ Status::Deleted { .. }), _) => match status.kept_until_s() {
                Some(until_s) if role == Role::Owner => Access::Deleted { until_s },
                _ => Access::Hidden,
            },
            (_, Need::Write) if role < Role::Editor => Access::Forbidden(role),
            (Some(Status::Archived { .. }), Need::Write) => Access::Archived,
            (_, Need::Read | Need::Write) => Access::Allowed,
        }
    }

    /// Whether this principal may create spreadsheets: with a token for one spreadsheet nobody
    /// could read what it creates.
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
    fn every_role_of_an_operators_token() {
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
    fn members_have_their_role_and_at_most_that_of_their_token() {
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
    fn a_namesake_of_another_issuer_is_somebody_else() {
        let listing = listing(&[("alice", Role::Owner)], Status::Active);
        let other = Principal {
            issuer: "https://elsewhere".into(),
            ..principal(Role::Owner, Scope::Shared)
        };
        assert_eq!(other.access(log(1), Some(&listing), Need::Read, NOW_S), Access::Hidden);
    }

    #[test]
    fn what_is_archived_is_read_and_what_is_deleted_is_for_owners_to_restore() {
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
    fn a_link_is_for_its_spreadsheet_and_until_its_end() {
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
