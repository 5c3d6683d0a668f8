//! Catalog records, which contain the name, status, members and share links of a spreadsheet.

use serde::{Deserialize, Serialize};

use super::link::{Link, LinkHash};
use super::name::Name;
use super::person::Person;
use crate::access::Role;
use cellar_base::identity::LogId;
use cellar_base::limits::DELETED_KEPT_S;

/// Catalog record of a spreadsheet: the state after all events in its event stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// Name of the spreadsheet. May be empty.
    pub name: Name,
    /// Creation time in seconds since the Unix epoch.
    pub created_s: u64,
    /// The spreadsheet from which the spreadsheet was forked, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<LogId>,
    /// Members, in the order in which they were added. At least one of them is an owner.
    pub members: Vec<Member>,
    /// Share links in the order of their creation. Expired links are included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Whether the spreadsheet is active, archived, deleted or purged.
    pub status: Status,
    /// Number of events in the event stream, which is the version of the record. A command that is
    /// based on an earlier version is rejected, because it could overwrite later changes.
    pub changes: u64,
}

/// A user who has a role on a spreadsheet.
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
    Active,
    Archived {
        /// Time at which the spreadsheet was archived, in seconds since the Unix epoch.
        at_s: u64,
    },
    /// The spreadsheet is deleted. An owner can recover it for `DELETED_KEPT_S` seconds.
    Deleted {
        at_s: u64,
    },
    /// The spreadsheet is permanently deleted. Its id is never reused.
    Purged {
        at_s: u64,
    },
}

impl Status {
    /// Returns the time at which the spreadsheet was archived, deleted or purged, in seconds since
    /// the Unix epoch. Returns `None` if the spreadsheet is active.
    #[must_use]
    pub fn since_s(self) -> Option<u64> {
        match self {
            Self::Active => None,
            Self::Archived { at_s } | Self::Deleted { at_s } | Self::Purged { at_s } => Some(at_s),
        }
    }

    /// Returns the time until which the spreadsheet can be recovered, in seconds since the Unix
    /// epoch. Returns `None` if the spreadsheet is not deleted.
    #[must_use]
    pub fn undelete_deadline_s(self) -> Option<u64> {
        match self {
            Self::Deleted { at_s } => Some(at_s.saturating_add(DELETED_KEPT_S)),
            Self::Active | Self::Archived { .. } | Self::Purged { .. } => None,
        }
    }

    /// Returns whether the spreadsheet is deleted and can no longer be recovered.
    #[must_use]
    pub fn undelete_deadline_has_passed(self, now_s: u64) -> bool {
        self.undelete_deadline_s().is_some_and(|deadline_s| deadline_s <= now_s)
    }
}

impl Listing {
    /// Returns the role of a user, or `None` if the user is not a member.
    #[must_use]
    pub fn role_of(&self, person: &Person) -> Option<Role> {
        self.members.iter().find(|member| member.person == *person).map(|member| member.role)
    }

    /// Returns the share link with this hash of the secret, unless it has expired.
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
