//! What the catalog says of a spreadsheet.

use serde::{Deserialize, Serialize};

use super::link::{Link, LinkHash};
use super::name::Name;
use super::person::Person;
use crate::access::Role;
use cellar_base::identity::LogId;
use cellar_base::limits::DELETED_KEPT_S;

/// What the catalog says of a spreadsheet: what all events of its stream come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// What it is called.
    pub name: Name,
    /// When it was listed, Unix seconds.
    pub created_s: u64,
    /// What it is a fork of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<LogId>,
    /// Who may do what, in the order in which they came; there is always an owner.
    pub members: Vec<Member>,
    /// Its links, those that have ended too, in the order in which they were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Whether it is in use.
    pub status: Status,
    /// How many events it is made of: who names the number that they have seen changes nothing that they
    /// have not seen.
    pub changes: u64,
}

/// Somebody with whom a spreadsheet is shared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Member {
    /// Who.
    pub person: Person,
    /// What they may do.
    pub role: Role,
}

/// Whether a spreadsheet is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "status")]
pub enum Status {
    /// It is.
    Active,
    /// It can be read and not changed.
    Archived {
        /// Since when, Unix seconds.
        at_s: u64,
    },
    /// It can be restored for `DELETED_KEPT_S`, and nothing else can be done with it.
    Deleted {
        /// Since when, Unix seconds.
        at_s: u64,
    },
    /// It is gone: nobody sees it, and there is no other of its id.
    Purged {
        /// Since when, Unix seconds.
        at_s: u64,
    },
}

impl Status {
    /// Since when it is archived, deleted or purged, Unix seconds; `None` of what is in use.
    #[must_use]
    pub fn since_s(self) -> Option<u64> {
        match self {
            Self::Active => None,
            Self::Archived { at_s } | Self::Deleted { at_s } | Self::Purged { at_s } => Some(at_s),
        }
    }

    /// Of what can be restored: when it cannot any more, Unix seconds.
    #[must_use]
    pub fn kept_until_s(self) -> Option<u64> {
        match self {
            Self::Deleted { at_s } => Some(at_s.saturating_add(DELETED_KEPT_S)),
            Self::Active | Self::Archived { .. } | Self::Purged { .. } => None,
        }
    }
}

impl Listing {
    /// What somebody may do as a member.
    #[must_use]
    pub fn role_of(&self, person: &Person) -> Option<Role> {
        self.members.iter().find(|member| member.person == *person).map(|member| member.role)
    }

    /// The link with this secret, if it has not ended.
    #[must_use]
    pub fn link(&self, hash: LinkHash, now_s: u64) -> Option<&Link> {
        self.links.iter().find(|link| link.hash == hash && !link.has_ended(now_s))
    }

    /// How many owners there are.
    #[must_use]
    pub fn owners(&self) -> usize {
        self.members.iter().filter(|member| member.role == Role::Owner).count()
    }
}
