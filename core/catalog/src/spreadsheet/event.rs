//! The events of a spreadsheet's stream in the catalog.

use serde::{Deserialize, Serialize};

use super::link::{Link, LinkHash};
use super::listing::{Listing, Member, Status};
use super::name::Name;
use super::person::Person;
use crate::access::Role;
use cellar_base::identity::LogId;

/// What happened to a spreadsheet in the catalog. In the stream, the variant is the event's kind, and
/// what it has is the event's data, JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CatalogEvent {
    /// It is in the catalog now.
    Created {
        /// Who created it: its first owner.
        by: Person,
        /// What it is called.
        name: Name,
        /// What it is a fork of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<LogId>,
        /// When, Unix seconds.
        at_s: u64,
    },
    /// It is called otherwise.
    Renamed {
        /// Who did it.
        by: Person,
        /// What it is called now.
        name: Name,
    },
    /// Somebody may do something with it, or something else than before.
    Shared {
        /// Who did it.
        by: Person,
        /// With whom.
        with: Grantee,
    },
    /// Somebody may not any more.
    Unshared {
        /// Who did it.
        by: Person,
        /// Who may not.
        from: Recipient,
    },
    /// It is read and not changed any more.
    Archived {
        /// Who did it.
        by: Person,
        /// When, Unix seconds.
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
    /// It is deleted, and can be restored for a while.
    Deleted {
        /// Who did it.
        by: Person,
        /// When, Unix seconds.
        at_s: u64,
    },
    /// What was deleted is gone for good: whatever it had is being deleted.
    Purged {
        /// Who did it.
        by: Person,
        /// When, Unix seconds.
        at_s: u64,
    },
}

/// With whom a spreadsheet is shared, and for what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grantee {
    /// With a person.
    Member(Member),
    /// With whoever has a link.
    Link(Link),
}

/// With whom a spreadsheet was shared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recipient {
    /// With a person.
    Member(Person),
    /// With whoever has a link.
    Link(LinkHash),
}

impl CatalogEvent {
    /// The kinds of events in a spreadsheet's stream.
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

    /// Its kind in the stream.
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

    /// Who did it.
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

    /// Whether it says with whom the spreadsheet is shared.
    #[must_use]
    pub fn is_sharing(&self) -> bool {
        matches!(self, Self::Shared { .. } | Self::Unshared { .. })
    }

    /// The listing behind this event. One that was never created is as an event left it: a stream has
    /// `Created` first.
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
