//! Listings: the catalog's current state of each spreadsheet.

use serde::{Deserialize, Serialize};

use super::link::{Link, LinkHash};
use super::name::Name;
use super::person::Person;
use crate::access::Role;
use cellar_base::identity::LogId;
use cellar_base::limits::DELETED_KEPT_S;

/// The catalog's record of a spreadsheet, which is the state after all events of its stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// Name of the spreadsheet; may be empty.
    pub name: Name,
    /// Creation time in Unix seconds.
    pub created_s: u64,
    /// Source of the spreadsheet, if it is a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<LogId>,
    /// Members in the order in which they were added. At least one member is an owner.
    pub members: Vec<Member>,
    /// Share links in the order in which they were created, including expired links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Whether the spreadsheet is active, archived, deleted or purged.
    pub status: Status,
    /// Number of events of the stream. A command that refers to an earlier number is rejected, so
    /// that it does not override later changes.
    pub changes: u64,
}

/// A person with a role on a spreadsheet.
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
        /// Time of archiving, in Unix seconds.
        at_s: u64,
    },
    /// The spreadsheet is deleted and hidden. An owner can undelete it for `DELETED_KEPT_S`
    /// seconds.
    Deleted {
        /// Time of the deletion, in Unix seconds.
        at_s: u64,
    },
    /// The spreadsheet is permanently removed. Its id is never reused.
    Purged {
        /// Time of the purge, in Unix seconds.
        at_s: u64,
    },
}

impl Status {
    /// Returns the time of archiving, deletion or purge in Unix seconds, or `None` for an active
    /// spreadsheet.
    #[must_use]
    pub fn since_s(self) -> Option<u64> {
        match self {
            Self::Active => None,
            Self::Archived { at_s } | Self::Deleted { at_s } | Self::Purged { at_s } => Some(at_s),
        }
    }

    /// Returns the time until which a deleted spreadsheet can be undeleted, in Unix seconds, or
    /// `None` if the spreadsheet is not deleted.
    #[must_use]
    pub fn kept_until_s(self) -> Option<u64> {
        match self {
            Self::Deleted { at_s } => Some(at_s.saturating_add(DELETED_KEPT_S)),
            Self::Active | Self::Archived { .. } | Self::Purged { .. } => None,
        }
    }
}

impl Listing {
    /// Returns the role of a person, or `None` if the person is not a member.
    #[must_use]
    pub fn role_of(&self, person: &Person) -> Option<Role> {
        self.members.iter().find(|member| member.person == *person).map(|member| member.role)
    }

    /// Returns the unexpired share link whose secret has this hash.
    #[must_use]
    pub fn link(&self, hash: LinkHash, now_s: u64) -> Option<&Link> {
        self.links.iter().find(|link| link.hash == hash && !link.has_expired(now_s))
    }

    /// Returns the number of owners.
    #[must_use]
    pub fn owners(&self) -> usize {
        self.members.iter().filter(|member| member.role == Role::Owner).count()
    }
}
