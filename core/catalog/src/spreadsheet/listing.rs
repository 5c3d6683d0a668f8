//! Listings: the current catalog record of each spreadsheet.

use serde::{Deserialize, Serialize};

use super::link::{Link, LinkHash};
use super::name::Name;
use super::person::Person;
use crate::access::Role;
use cellar_base::identity::LogId;
use cellar_base::limits::DELETED_KEPT_S;

/// Catalog record of a spreadsheet: the state after all events in its stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// Name of the spreadsheet. May be empty.
    pub name: Name,
    /// Creation time in seconds since the Unix epoch.
    pub created_s: u64,
    /// Source of the fork, if the spreadsheet is a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<LogId>,
    /// Members, in the order in which they were added. There is always at least one owner.
    pub members: Vec<Member>,
    /// Share links in creation order, including expired share links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Whether the spreadsheet is active, archived, deleted or purged.
    pub status: Status,
    /// Version of the record: the number of events in the stream. A command that is based on an
    /// earlier version is rejected, so that it does not overwrite later changes.
    pub changes: u64,
}

/// A person who has a role on a spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Member {
    /// Person who has the role.
    pub person: Person,
    /// Role of the person on the spreadsheet.
    pub role: Role,
}

/// Status of a spreadsheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "status")]
pub enum Status {
    /// The spreadsheet is editable.
    Active,
    /// The spreadsheet is read-only.
    Archived {
        /// Time of archiving, in seconds since the Unix epoch.
        at_s: u64,
    },
    /// The spreadsheet is deleted and hidden. For `DELETED_KEPT_S` seconds, an owner can undelete
    /// it.
    Deleted {
        /// Time of the deletion, in seconds since the Unix epoch.
        at_s: u64,
    },
    /// The spreadsheet is permanently deleted. Its id is never reused.
    Purged {
        /// Time of the purge, in seconds since the Unix epoch.
        at_s: u64,
    },
}

impl Status {
    /// Returns the time of the archiving, deletion or purge in seconds since the Unix epoch, or
    /// `None` if the spreadsheet is active.
    #[must_use]
    pub fn since_s(self) -> Option<u64> {
        match self {
            Self::Active => None,
            Self::Archived { at_s } | Self::Deleted { at_s } | Self::Purged { at_s } => Some(at_s),
        }
    }

    /// Returns the undelete deadline in seconds since the Unix epoch, or `None` if the spreadsheet
    /// is not deleted.
    #[must_use]
    pub fn undelete_deadline_s(self) -> Option<u64> {
        match self {
            Self::Deleted { at_s } => Some(at_s.saturating_add(DELETED_KEPT_S)),
            Self::Active | Self::Archived { .. } | Self::Purged { .. } => None,
        }
    }

    /// Whether the spreadsheet is deleted and can no longer be undeleted.
    #[must_use]
    pub fn undelete_deadline_has_passed(self, now_s: u64) -> bool {
        self.undelete_deadline_s().is_some_and(|deadline_s| deadline_s <= now_s)
    }
}

impl Listing {
    /// Returns a person's role, or `None` if the person is not a member.
    #[must_use]
    pub fn role_of(&self, person: &Person) -> Option<Role> {
        self.members.iter().find(|member| member.person == *person).map(|member| member.role)
    }

    /// Returns the unexpired share link with this secret hash.
    #[must_use]
    pub fn link(&self, hash: LinkHash, now_s: u64) -> Option<&Link> {
        self.links.iter().find(|link| link.hash == hash && !link.has_expired(now_s))
    }

    /// Returns the number of owners.
    #[must_use]
    pub fn owner_count(&self) -> usize {
        self.members.iter().filter(|member| member.role == Role::Owner).count()
    }
}
