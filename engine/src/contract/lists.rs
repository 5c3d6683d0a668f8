//! Contract tests for spreadsheet lists.

use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_catalog::{
    spreadsheet::BadName, spreadsheet::BadPerson, spreadsheet::ListEntry, spreadsheet::ListLine,
    spreadsheet::Name, spreadsheet::Person, spreadsheet::Status,
};

use crate::ports::{ListPage, Lists, PortError};

/// Checks a spreadsheet list table.
pub async fn lists<T: Lists>(lists: &T) {
    the_entry_of_most_events_stays(lists).await;
    pages_follow_each_other(lists).await;
}

fn person(name: &str) -> Person {
    let person: Result<Person, BadPerson> = Person::new("contract", name);
    person.unwrap_or_else(|error| panic!("{error}"))
}

fn entry(id: u128, version: u64, role: Option<Role>) -> ListEntry {
    let name: Result<Name, BadName> = Name::new("Budget");
    let name = name.unwrap_or_else(|error| panic!("{error}"));
    let source = Some(LogId::from_uuid(uuid::Uuid::from_u128(u128::MAX)));
    let line = |role| ListLine { name, role, status: Status::Active, created_s: 1, source };
    let log_id = LogId::from_uuid(uuid::Uuid::from_u128(id));
    ListEntry { log: log_id, version, line: role.map(line) }
}

fn expect_ok<T>(result: Result<T, PortError>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

async fn the_entry_of_most_events_stays<T: Lists>(lists: &T) {
    let (alice, owner) = (person("alice"), Some(Role::Owner));
    for (new_entry, stored_entry) in [
        (entry(1, 1, owner), entry(1, 1, owner)),
        (entry(1, 1, Some(Role::Editor)), entry(1, 1, Some(Role::Editor))),
        (entry(1, 3, None), entry(1, 3, None)),
        (entry(1, 2, owner), entry(1, 3, None)),
        (entry(1, 4, owner), entry(1, 4, owner)),
    ] {
        expect_ok(lists.put_listed(&alice, &new_entry).await);
        assert_eq!(expect_ok(lists.listed(&alice, None, 10).await).entries, [stored_entry]);
    }
}

async fn pages_follow_each_other<T: Lists>(lists: &T) {
    let bob = person("bob");
    let empty_page = ListPage { entries: vec![], more: false };
    assert_eq!(expect_ok(lists.listed(&bob, None, 10).await), empty_page);
    for id in [3, 1, 2, 5, 4] {
        expect_ok(lists.put_listed(&bob, &entry(id, 1, Some(Role::Viewer))).await);
    }
    let sorted_entries: Vec<_> = (1..6).map(|id| entry(id, 1, Some(Role::Viewer))).collect();
    for page_limit in 1..7 {
        let listed_entries = list_all_entries(lists, &bob, page_limit).await;
        assert_eq!(listed_entries, sorted_entries, "{page_limit}");
    }
}

async fn list_all_entries<T: Lists>(lists: &T, person: &Person, page_limit: u32) -> Vec<ListEntry> {
    let mut listed_entries = Vec::new();
    let mut last_log = None;
    loop {
        let page = expect_ok(lists.listed(person, last_log, page_limit).await);
        assert!(page.entries.len() <= usize::try_from(page_limit).unwrap_or(usize::MAX));
        last_log = page.entries.last().map(|entry| entry.log);
        listed_entries.extend(page.entries);
        if !page.more {
            return listed_entries;
        }
    }
}
