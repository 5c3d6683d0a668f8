//! Events in a spreadsheet's event stream.

use serde::{Deserialize, Serialize};

use super::link::{Link, LinkHash};
use super::listing::{Listing, Member, Status};
use super::name::Name;
use super::person::Person;
use crate::access::Role;
use cellar_base::identity::LogId;

/// An event of a spreadsheet. The event kind is the name of the variant. The data consists of the
/// fields of the variant, encoded as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CatalogEvent {
    Created {
        /// Creator and first owner.
        by: Person,
        /// Name of the spreadsheet. May be empty.
        name: Name,
        /// The spreadsheet from which the spreadsheet was forked, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<LogId>,
        /// Time of the change, in seconds since the Unix epoch.
        at_s: u64,
    },
    Renamed {
        by: Person,
        name: Name,
    },
    /// A user or share link received a role, or its role was changed.
    Shared {
        by: Person,
        with: Grantee,
    },
    Unshared {
        by: Person,
        from: Recipient,
    },
    Archived {
        by: Person,
        at_s: u64,
    },
    Unarchived {
        by: Person,
    },
    Undeleted {
        by: Person,
    },
    /// The spreadsheet was deleted. It can be recovered for a limited time.
    Deleted {
        by: Person,
        at_s: u64,
    },
    /// The spreadsheet was purged. Its data is deleted after this event.
    Purged {
        by: Person,
        at_s: u64,
    },
}

/// A person or share link, with a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grantee {
    Member(Member),
    Link(Link),
}

/// A person or link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recipient {
    Member(Person),
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

    /// Returns the name of the event kind as stored.
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

    /// Returns the person who made the change.
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

    /// Returns whether the event changes who has access to the spreadsheet.
    #[must_use]
    pub fn is_sharing(&self) -> bool {
        matches!(self, Self::Shared { .. } | Self::Unshared { .. })
    }

    /// Returns the catalog record after this event. Without a catalog record, only `Created` has an
    /// effect.
    #[must_use]
    pub fn apply(&self, listing: Option<Listing>) -> Option<Listing> {
        if let Self::Created { by, name, source, at_s } = self {
            return Some(Listing {
                name: name.clone(),
                created_s: *at_s,
                source: *source,
                members: vec![Member { person: by.clone(), role: Role::Owner }],
                links: Vec::new(),
                status: Status::Active,
                changes: 1,
            });
        }
        let mut listing = listing?;
        listing.changes = listing.changes.saturating_add(1);
        self.apply_to(&mut listing);
        Some(listing)
    }

    fn apply_to(&self, listing: &mut Listing) {
        match self {
            // `apply` handles `Created`, which creates the catalog record.
            Self::Created { .. } => {}
            Self::Renamed { name, .. } => listing.name = name.clone(),
            Self::Shared { with: Grantee::Member(member), .. } => listing.set_member(member),
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
    }
}

impl Listing {
    fn set_member(&mut self, member: &Member) {
        match self.members.iter_mut().find(|existing| existing.person == member.person) {
            Some(existing_member) => existing_member.role = member.role,
            None => self.members.push(member.clone()),
        }
    }
}
