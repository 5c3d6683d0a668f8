//! Spreadsheet lists. Each list contains the spreadsheets of one person. The lists are derived from
//! the event streams.

use std::collections::BTreeSet;

use super::event::{CatalogEvent, Grantee, Recipient};
use super::listing::{Listing, Status};
use super::name::Name;
use super::person::Person;
use crate::access::Role;
use cellar_base::identity::LogId;

/// A spreadsheet's entry in a person's spreadsheet list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListEntry {
    /// Spreadsheet id.
    pub log: LogId,
    /// Version of the entry: the number of events of the spreadsheet that the entry includes.
    pub version: u64,
    /// Details of the spreadsheet, or `None` if the person's access was revoked.
    pub line: Option<ListLine>,
}

/// Details of a spreadsheet in a person's spreadsheet list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListLine {
    /// Name of the spreadsheet.
    pub name: Name,
    /// Role of the person.
    pub role: Role,
    /// Status of the spreadsheet.
    pub status: Status,
    /// Creation time of the spreadsheet, in seconds since the Unix epoch.
    pub created_s: u64,
}

impl Listing {
    /// Returns the entry for this listing (catalog record) in a person's spreadsheet list.
    /// `version` is the number of events that the listing includes.
    #[must_use]
    pub fn list_entry(&self, log: LogId, version: u64, person: &Person) -> ListEntry {
        let is_purged = matches!(self.status, Status::Purged { .. });
        let role = if is_purged { None } else { self.role_of(person) };
        let line = role.map(|role| ListLine {
            name: self.name.clone(),
            role,
            status: self.status,
            created_s: self.created_s,
        });
        ListEntry { log, version, line }
    }

    /// Returns the people whose spreadsheet lists must be updated because of `events`. The listing
    /// must already include all these events.
    #[must_use]
    pub fn affected_persons(&self, events: &[CatalogEvent]) -> BTreeSet<Person> {
        let mut affected_persons = BTreeSet::new();
        for event in events {
            match event {
                CatalogEvent::Shared { with: Grantee::Member(member), .. } => {
                    affected_persons.insert(member.person.clone());
                }
                CatalogEvent::Unshared { from: Recipient::Member(person), .. } => {
                    affected_persons.insert(person.clone());
                }
                // A share link does not add the spreadsheet to anyone's list.
                CatalogEvent::Shared { with: Grantee::Link(_), .. }
                | CatalogEvent::Unshared { from: Recipient::Link(_), .. } => {}
                CatalogEvent::Created { .. }
                | CatalogEvent::Renamed { .. }
                | CatalogEvent::Archived { .. }
                | CatalogEvent::Unarchived { .. }
                | CatalogEvent::Undeleted { .. }
                | CatalogEvent::Deleted { .. }
                | CatalogEvent::Purged { .. } => {
                    let members = self.members.iter();
                    affected_persons.extend(members.map(|member| member.person.clone()));
                }
            }
        }
        affected_persons
    }
}
