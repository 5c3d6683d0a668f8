//! Spreadsheet lists: a read model of the event streams.

use std::collections::BTreeSet;

use super::event::{CatalogEvent, Grantee, Recipient};
use super::listing::{Listing, Status};
use super::name::Name;
use super::person::Person;
use crate::access::Role;
use cellar_base::identity::LogId;

/// A spreadsheet in a person's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListEntry {
    /// Spreadsheet id.
    pub log: LogId,
    /// Number of events that the line includes; a higher number is newer.
    pub version: u64,
    /// The line; `None` if access was revoked.
    pub line: Option<ListLine>,
}

/// The line of a spreadsheet in a person's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListLine {
    /// Name.
    pub name: Name,
    /// Role.
    pub role: Role,
    /// Status.
    pub status: Status,
    /// Creation time, Unix seconds.
    pub created_s: u64,
}

impl Listing {
    /// Returns the person's list entry, given the number of events of this listing.
    #[must_use]
    pub fn list_entry(&self, log: LogId, version: u64, person: &Person) -> ListEntry {
        let role = self.role_of(person).filter(|_| !matches!(self.status, Status::Purged { .. }));
        let line = role.map(|role| ListLine {
            name: self.name.clone(),
            role,
            status: self.status,
            created_s: self.created_s,
        });
        ListEntry { log, version, line }
    }

    /// Returns the persons whose list changes by these events, the last of which produced this
    /// listing.
    #[must_use]
    pub fn touched_by(&self, events: &[CatalogEvent]) -> BTreeSet<Person> {
        let mut people = BTreeSet::new();
        for event in events {
            match event {
                CatalogEvent::Shared { with: Grantee::Member(member), .. } => {
                    people.insert(member.person.clone());
                }
                CatalogEvent::Unshared { from: Recipient::Member(person), .. } => {
                    people.insert(person.clone());
                }
                // Lists do not include holders of links.
                CatalogEvent::Shared { with: Grantee::Link(_), .. }
                | CatalogEvent::Unshared { from: Recipient::Link(_), .. } => {}
                CatalogEvent::Created { .. }
                | CatalogEvent::Renamed { .. }
                | CatalogEvent::Archived { .. }
                | CatalogEvent::Unarchived { .. }
                | CatalogEvent::Undeleted { .. }
                | CatalogEvent::Deleted { .. }
                | CatalogEvent::Purged { .. } => {
                    people.extend(self.members.iter().map(|member| member.person.clone()));
                }
            }
        }
        people
    }
}
