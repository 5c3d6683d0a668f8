//! Spreadsheet lists. Each list contains the spreadsheets of one user and is derived from the event
//! streams of the spreadsheets.

use std::collections::BTreeSet;

use super::event::{CatalogEvent, Grantee, Recipient};
use super::listing::{Listing, Status};
use super::name::Name;
use super::person::Person;
use crate::access::Role;
use cellar_base::identity::LogId;

/// A spreadsheet in the spreadsheet list of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListEntry {
    /// Spreadsheet id.
    pub log: LogId,
    /// Number of events of the spreadsheet that the entry includes. An entry replaces entries with
    /// a lower number.
    pub version: u64,
    /// Details of the spreadsheet, or `None` if the user has lost access.
    pub line: Option<ListLine>,
}

/// Details of a spreadsheet in the spreadsheet list of a user.
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
    /// The spreadsheet from which the spreadsheet was forked, if any. Entries that were written
    /// before this field existed lack it until the next event of the spreadsheet.
    pub source: Option<LogId>,
}

impl Listing {
    /// Returns the entry that represents this spreadsheet in a user's spreadsheet list. `version`
    /// is the number of events of the spreadsheet so far.
    #[must_use]
    pub fn list_entry(&self, log: LogId, version: u64, person: &Person) -> ListEntry {
        let is_purged = matches!(self.status, Status::Purged { .. });
        let role = if is_purged { None } else { self.role_of(person) };
        let line = role.map(|role| ListLine {
            name: self.name.clone(),
            role,
            status: self.status,
            created_s: self.created_s,
            source: self.source,
        });
        ListEntry { log, version, line }
    }

    /// Returns the users whose spreadsheet lists must be updated after `events`. The catalog record
    /// must already include these events.
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
                // Using a share link does not add the spreadsheet to a list.
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
