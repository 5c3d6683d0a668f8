//! Decides how the relay reacts to a change of the Entry table. The relay starts background work
//! after such changes.

use crate::snapshot_job::SnapshotJob;
use cellar_base::position::Position;
use cellar_base::table_attributes::{EXTERNAL, PARTITION_KEY, SORT_KEY, TYPE, UPLOADS_PREFIX};
use cellar_base::{record::Attribute, record::Item, record::RecordError};
use cellar_log::records::entry::{EDITS, IMPORT, SNAPSHOT, decode_key};

/// Entry attributes that [`decide_relay_action`] reads. A stream record may omit all other
/// attributes, such as the body.
pub const ATTRIBUTES: [&str; 4] = [PARTITION_KEY, SORT_KEY, TYPE, EXTERNAL];

/// Name of an insert event in a DynamoDB stream. Modifications are ignored, because setting the
/// root of a Snapshot entry must not start another job.
pub const INSERT: &str = "INSERT";

/// Action of the relay for a change to the Entry table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelayAction {
    /// Enqueue a snapshot job.
    SendJob(SnapshotJob),
    /// Remove the pending tag from an external body, so that the bucket's lifecycle rule does not
    /// delete the body.
    RemovePendingTag {
        /// S3 key of the external body.
        key: String,
    },
    /// Ignore the change.
    Ignore,
}

/// The stream record is invalid, so retrying does not help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RelayError {
    /// The entry has an encoding that Cellar never writes.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The S3 key of the external body is outside the upload prefix.
    #[error("the external body `{key}` is not under `{UPLOADS_PREFIX}`")]
    NotAnUpload {
        /// S3 key of the external body.
        key: String,
    },
}

/// Determines the relay's action for a change. `entry_image` contains the entry's attributes after
/// the change.
///
/// # Errors
/// Returns a [`RelayError`] if the entry's attributes are invalid.
pub fn decide_relay_action(
    event_name: &str,
    entry_image: &Item,
) -> Result<RelayAction, RelayError> {
    if event_name != INSERT {
        return Ok(RelayAction::Ignore);
    }
    let (log, position) = decode_key(entry_image)?;
    let Some(Attribute::Text(entry_type)) = entry_image.get(TYPE) else {
        return Err(invalid_attribute(TYPE).into());
    };
    match entry_type.as_str() {
        // The first entry of a log is an empty snapshot, which needs no root.
        SNAPSHOT if position == Position::FIRST => Ok(RelayAction::Ignore),
        SNAPSHOT => Ok(RelayAction::SendJob(SnapshotJob { log, position })),
        EDITS | IMPORT => action_for_external_body(entry_image),
        _ => Ok(RelayAction::Ignore),
    }
}

fn action_for_external_body(entry_image: &Item) -> Result<RelayAction, RelayError> {
    match entry_image.get(EXTERNAL) {
        None => Ok(RelayAction::Ignore),
        Some(Attribute::Text(key)) if key.starts_with(UPLOADS_PREFIX) => {
            Ok(RelayAction::RemovePendingTag { key: key.clone() })
        }
        Some(Attribute::Text(key)) => Err(RelayError::NotAnUpload { key: key.clone() }),
        Some(_) => Err(invalid_attribute(EXTERNAL).into()),
    }
}

fn invalid_attribute(name: &'static str) -> RecordError {
    RecordError::Attribute { record: "entry", name, expected: "text" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::identity::LogId;
    use cellar_log::entry::Entry;
    use cellar_log::records::entry::{END_SEGMENT, encode};

    fn log() -> LogId {
        LogId::from_uuid(uuid::Uuid::from_u128(7))
    }

    fn image(letter: &str, external: Option<&str>) -> Item {
        let mut item = encode(&Entry::first(log(), None, 1_795_246_133)).unwrap();
        item.retain(|name, _| ATTRIBUTES.contains(&name.as_str()));
        item.insert(TYPE.to_owned(), Attribute::Text(letter.to_owned()));
        if let Some(key) = external {
            item.insert(EXTERNAL.to_owned(), Attribute::Text(key.to_owned()));
        }
        item
    }

    #[test]
    fn every_new_snapshot_entry_except_a_logs_first_becomes_a_job() {
        assert_eq!(decide_relay_action(INSERT, &image(SNAPSHOT, None)), Ok(RelayAction::Ignore));
        for position in [Position::new(0, 1).unwrap(), Position::new(1, 0).unwrap()] {
            let mut item = encode(&Entry { position, ..Entry::first(log(), None, 0) }).unwrap();
            item.retain(|name, _| ATTRIBUTES.contains(&name.as_str()));
            let job = SnapshotJob { log: log(), position };
            assert_eq!(decide_relay_action(INSERT, &item), Ok(RelayAction::SendJob(job)));
        }
    }

    #[test]
    fn a_new_external_body_loses_its_tag() {
        let key = "uploads/a/b".to_owned();
        for letter in [EDITS, IMPORT] {
            let action = decide_relay_action(INSERT, &image(letter, Some(&key)));
            assert_eq!(action, Ok(RelayAction::RemovePendingTag { key: key.clone() }));
        }
    }

    #[test]
    fn anything_else_is_ignored() {
        for letter in [EDITS, IMPORT, END_SEGMENT, "Z"] {
            assert_eq!(
                decide_relay_action(INSERT, &image(letter, None)),
                Ok(RelayAction::Ignore),
                "{letter}"
            );
        }
        for letter in [END_SEGMENT, "Z"] {
            let decided = decide_relay_action(INSERT, &image(letter, Some("uploads/a/b")));
            assert_eq!(decided, Ok(RelayAction::Ignore), "{letter}");
        }
        // Finishing the snapshot causes a modification event.
        let finished = image(SNAPSHOT, Some("sheets/a/roots/b"));
        for change in ["MODIFY", "REMOVE", "insert", ""] {
            assert_eq!(decide_relay_action(change, &finished), Ok(RelayAction::Ignore), "{change}");
            assert_eq!(
                decide_relay_action(change, &Item::new()),
                Ok(RelayAction::Ignore),
                "{change}"
            );
        }
    }

    #[test]
    fn invalid_records_are_errors() {
        for name in [PARTITION_KEY, SORT_KEY, TYPE] {
            let mut item = image(SNAPSHOT, None);
            item.remove(name);
            let error = decide_relay_action(INSERT, &item).unwrap_err().to_string();
            assert!(error.contains(&format!("`{name}`")), "{error}");
        }
        let mut item = image(EDITS, None);
        item.insert(EXTERNAL.to_owned(), Attribute::Number(1));
        assert!(matches!(decide_relay_action(INSERT, &item), Err(RelayError::Record(_))));
        let key = "sheets/a/roots/b".to_owned();
        let elsewhere = decide_relay_action(INSERT, &image(EDITS, Some(&key)));
        assert_eq!(elsewhere, Err(RelayError::NotAnUpload { key }));
    }
}
