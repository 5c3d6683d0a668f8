//! What somebody's list says of a spreadsheet: a read model, made of the spreadsheet's stream.

use std::collections::BTreeSet;

use super::event::{CatalogEvent, Grantee, Recipient};
use super::listing::{Listing, Status};
use super::name::Name;
use super::person::Person;
use crate::access::Role;
use cellar_base::identity::LogId;

/// A spreadsheet in somebody's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListEntry {
    /// The spreadsheet.
    pub log: LogId,
    /// How many events of the spreadsheet's stream it is made of: one of more is newer.
    pub version: u64,
    /// What it says; `None` if the spreadsheet is shared with them no more.
    pub line: Option<ListLine>,
}

/// What the list says of a spreadsheet that is shared with somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListLine {
    /// What it is called.
    pub name: Name,
    /// What they may do.
    pub role: Role,
    /// Whether it is in use.
    pub status: Status,
    /// When it was listed, Unix seconds.
    pub created_s: u64,
}

impl Listing {
    /// What somebody's list says of it, made of so many events.
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

    /// Whose lists say something else after these events, the last that made it.
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
                // Nobody's list says who has a link.
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
