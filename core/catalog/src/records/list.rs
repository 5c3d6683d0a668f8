//! Records of spreadsheet lists in the Feed table.

use crate::access::Role;
use crate::{
    spreadsheet::ListEntry, spreadsheet::ListLine, spreadsheet::Name, spreadsheet::Person,
    spreadsheet::Status,
};
use cellar_base::hexadecimal::hexadecimal;
use cellar_base::identity::LogId;
use cellar_base::record::{Item, Reader, RecordError, put_number, put_text};
use cellar_base::table_attributes::{
    FEED_PARTITION_KEY, FEED_SORT_KEY, LISTED_AT, LISTED_CREATED, LISTED_NAME, LISTED_ROLE,
    LISTED_SOURCE, LISTED_STATUS, NEXT_INDEX,
};

const ENTRY: &str = "spreadsheet in a list";
const ACTIVE: &str = "active";
const ARCHIVED: &str = "archived";
const DELETED: &str = "deleted";

/// Returns the partition key of a user's spreadsheet list. It is a hash, so it does not reveal the
/// user.
#[must_use]
pub fn list_partition(person: &Person) -> String {
    format!("$Sheets-{}", hexadecimal(person.key().as_bytes()))
}

/// Returns the key of a spreadsheet in a user's spreadsheet list.
#[must_use]
pub fn key(person: &Person, log: LogId) -> Item {
    let mut item = Item::new();
    put_text(&mut item, FEED_PARTITION_KEY, Some(&list_partition(person)));
    put_text(&mut item, FEED_SORT_KEY, Some(&log.to_string()));
    item
}

/// Encodes an entry of a user's spreadsheet list. An entry is kept even after the user has lost
/// access, because a delayed write of an older version could otherwise add the spreadsheet again.
#[must_use]
pub fn encode(person: &Person, entry: &ListEntry) -> Item {
    let mut item = key(person, entry.log);
    put_number(&mut item, NEXT_INDEX, entry.version);
    if let Some(line) = &entry.line {
        put_line(&mut item, line);
    }
    item
}

fn put_line(item: &mut Item, line: &ListLine) {
    let status_word = match line.status {
        Status::Active => ACTIVE,
        Status::Archived { .. } => ARCHIVED,
        // A purged spreadsheet is in no list.
        Status::Deleted { .. } | Status::Purged { .. } => DELETED,
    };
    put_text(item, LISTED_NAME, Some(line.name.as_str()));
    put_text(item, LISTED_ROLE, Some(&line.role.to_string()));
    put_text(item, LISTED_STATUS, Some(status_word));
    put_number(item, LISTED_CREATED, line.created_s);
    if let Some(since_s) = line.status.since_s() {
        put_number(item, LISTED_AT, since_s);
    }
    put_text(item, LISTED_SOURCE, line.source.map(|source| source.to_string()).as_deref());
}

/// Decodes an entry of a user's spreadsheet list.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode(item: &Item) -> Result<ListEntry, RecordError> {
    let reader = Reader { record: ENTRY, item };
    let log = reader
        .text(FEED_SORT_KEY)?
        .parse()
        .map_err(|_| reader.attribute_error(FEED_SORT_KEY, "a spreadsheet id"))?;
    let version = reader.number(NEXT_INDEX)?;
    let line = match reader.optional_text(LISTED_ROLE)? {
        Some(role) => Some(decode_line(&reader, &role)?),
        None => None,
    };
    Ok(ListEntry { log, version, line })
}

fn decode_line(reader: &Reader<'_>, role: &str) -> Result<ListLine, RecordError> {
    let role: Role = role.parse().map_err(|_| reader.attribute_error(LISTED_ROLE, "a role"))?;
    let name = match reader.text(LISTED_NAME)?.as_str() {
        "" => Name::default(),
        name => Name::new(name).map_err(|_| reader.attribute_error(LISTED_NAME, "a name"))?,
    };
    let status = match reader.text(LISTED_STATUS)?.as_str() {
        ACTIVE => Status::Active,
        ARCHIVED => Status::Archived { at_s: reader.number(LISTED_AT)? },
        DELETED => Status::Deleted { at_s: reader.number(LISTED_AT)? },
        _ => return Err(reader.attribute_error(LISTED_STATUS, "active, archived or deleted")),
    };
    let source = match reader.optional_text(LISTED_SOURCE)? {
        None => None,
        Some(source) => Some(
            source
                .parse()
                .map_err(|_| reader.attribute_error(LISTED_SOURCE, "a spreadsheet id"))?,
        ),
    };
    Ok(ListLine { name, role, status, created_s: reader.number(LISTED_CREATED)?, source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::record::Attribute;

    fn person() -> Person {
        Person::new("cellar", "alice").unwrap()
    }

    fn entry(status: Status, name: &str) -> ListEntry {
        let name = if name.is_empty() { Name::default() } else { Name::new(name).unwrap() };
        let source = Some(LogId::from_uuid(uuid::Uuid::from_u128(8)));
        let line = ListLine { name, role: Role::Editor, status, created_s: 7, source };
        ListEntry { log: LogId::from_uuid(uuid::Uuid::from_u128(7)), version: 3, line: Some(line) }
    }

    #[test]
    fn records_round_trip() {
        let (archived, deleted) = (Status::Archived { at_s: 1 }, Status::Deleted { at_s: 2 });
        for (status, name) in [(Status::Active, "Budget"), (archived, ""), (deleted, "Ü")] {
            let entry = entry(status, name);
            assert_eq!(decode(&encode(&person(), &entry)), Ok(entry));
        }
        let mut item = encode(&person(), &entry(Status::Active, "Budget"));
        item.remove(LISTED_SOURCE);
        let line = decode(&item).unwrap().line.unwrap();
        assert_eq!(
            (line.name.as_str(), line.source),
            ("Budget", None),
            "no fork, or an old record"
        );
        let gone = ListEntry { line: None, ..entry(Status::Active, "Budget") };
        assert_eq!(decode(&encode(&person(), &gone)), Ok(gone));
    }

    #[test]
    fn keys_hide_the_person_and_differ_by_issuer() {
        let namesake = Person::new("https://elsewhere", "alice").unwrap();
        assert_ne!(list_partition(&person()), list_partition(&namesake));
        assert!(!list_partition(&person()).contains("alice"));
    }

    #[test]
    fn names_invalid_attributes() {
        let whole = encode(&person(), &entry(Status::Archived { at_s: 1 }, "Budget"));
        for name in [
            FEED_SORT_KEY,
            NEXT_INDEX,
            LISTED_NAME,
            LISTED_STATUS,
            LISTED_CREATED,
            LISTED_AT,
            LISTED_SOURCE,
        ] {
            let mut item = whole.clone();
            item.insert(name.to_owned(), Attribute::Bytes(vec![1]));
            let error = decode(&item).unwrap_err().to_string();
            assert!(error.contains(&format!("`{name}`")), "{error}");
        }
        let mut item = whole;
        item.insert(LISTED_ROLE.to_owned(), Attribute::Text("king".to_owned()));
        assert!(decode(&item).is_err());
    }
}
