//! Events of a spreadsheet's event stream.

use serde::{Deserialize, Serialize};

use super::link::{Link, LinkHash};
use super::listing::{Listing, Member, Status};
use super::name::Name;
use super::person::Person;
use crate::access::Role;
use cellar_base::identity::LogId;

/// An event of a spreadsheet. In the stream, the variant is the event's kind, and its fields are
/// the event's data, JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CatalogEvent {
    /// The spreadsheet was listed.
    Created {
        /// Creator and first owner.
        by: Person,
        /// Name.
        name: Name,
        /// Source of a fork.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<LogId>,
        /// Time, Unix seconds.
        at_s: u64,
    },
    /// The spreadsheet was renamed.
    Renamed {
        /// Author.
        by: Person,
        /// New name.
        name: Name,
    },
    /// A person or link got a role, or another one.
    Shared {
        /// Author.
        by: Person,
        /// Person or link.
        with: Grantee,
    },
    /// The access of a person or link was revoked.
    Unshared {
        /// Author.
        by: Person,
        /// Person or link.
        from: Recipient,
    },
    /// The spreadsheet was made read-only.
    Archived {
        /// Author.
        by: Person,
        /// Time, Unix seconds.
        at_s: u64,
    },
    /// An archived spreadsheet was made editable again.
    Unarchived {
        /// The owner who did it.
        by: Person,
    },
    /// A deleted spreadsheet was recovered.
    Undeleted {
        /// The owner who did it.
        by: Person,
    },
    /// The spreadsheet was deleted and can be undeleted for a period.
    Deleted {
        /// Author.
        by: Person,
        /// Time, Unix seconds.
        at_s: u64,
    },
    /// The spreadsheet was permanently removed: its data is being deleted.
    Purged {
        /// Author.
        by: Person,
        /// Time, Unix seconds.
        at_s: u64,
    },
}

/// A person or link with its role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grantee {
    /// Person.
    Member(Member),
    /// Share link.
    Link(Link),
}

/// A person or link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recipient {
    /// Person.
    Member(Person),
    /// Share link.
    Link(LinkHash),
}

impl CatalogEvent {
    /// All event kinds.
    pub const KINDS: [&'static str; 9] = [
        "Created",
        "Renamed",
        "Shared",
        "Unshared",
        "Archived",
        "Unarchived",
        "Deleted",
        "Undeleted",
        "Purged",
    ];

    /// Returns the kind in the stream.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Created { .. } => "Created",
            Self::Renamed { .. } => "Renamed",
            Self::Shared { .. } => "Shared",
            Self::Unshared { .. } => "Unshared",
            Self::Archived { .. } => "Archived",
            Self::Unarchived { .. } => "Unarchived",
            Self::Undeleted { .. } => "Undeleted",
            Self::Deleted { .. } => "Deleted",
            Self::Purged { .. } => "Purged",
        }
    }

    /// Returns the author.
    #[must_use]
    pub fn by(&self) -> &Person {
        match self {
            Self::Created { by, .. }
            | Self::Renamed { by, .. }
            | Self::Shared { by, .. }
            | Self::Unshared { by, .. }
            | Self::Archived { by, .. }
            | Self::Unarchived { by }
            | Self::Undeleted { by }
            | Self::Deleted { by, .. }
            | Self::Purged { by, .. } => by,
        }
    }

    /// Returns whether the event changes sharing.
    #[must_use]
    pub fn is_sharing(&self) -> bool {
        matches!(self, Self::Shared { .. } | Self::Unshared { .. })
    }

    /// Returns the listing after this event. The first event of a stream is `Created`; others have
    /// no effect without a listing.
    #[must_use]
    pub fn apply(&self, listing: Option<Listing>) -> Option<Listing> {
        if let Self::Created { by, name, source, at_s } = self {
            let owner = Member { person: by.clone(), role: Role::Owner };
            return Some(Listing {
                name: name.clone(),
                created_s: *at_s,
                source: *source,
                members: vec![owner],
                links: Vec::new(),
                status: Status::Active,
                changes: 1,
            });
        }
        let mut listing = listing?;
        listing.changes = listing.changes.saturating_add(1);
        match self {
            Self::Created { .. } => {}
            Self::Renamed { name, .. } => listing.name = name.clone(),
            Self::Shared { with: Grantee::Member(member), .. } => listing.give(member),
            Self::Shared { with: Grantee::Link(link), .. } => listing.links.push(link.clone()),
            Self::Unshared { from: Recipient::Member(person), .. } => {
                listing.members.retain(|member| member.person != *person);
            }
            Self::Unshared { from: Recipient::Link(hash), .. } => {
                listing.links.retain(|link| link.hash != *hash);
            }
            Self::Archived { at_s, .. } => listing.status = Status::Archived { at_s: *at_s },
            Self::Unarchived { .. } | Self::Undeleted { .. } => listing.status = Status::Active,
            Self::Deleted { at_s, .. } => listing.status = Status::Deleted { at_s: *at_s },
            Self::Purged { at_s, .. } => listing.status = Status::Purged { at_s: *at_s },
        }
        Some(listing)
    }
}

impl Listing {
    fn give(&mut self, member: &Member) {
        match self.members.iter_mut().find(|there| there.person == member.person) {
            Some(there) => there.role = member.role,
            None => self.members.push(member.clone()),
        }
    }
}
