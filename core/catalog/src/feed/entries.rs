//! Represents log entries as events of the feed.
//!
//! Each log segment is an event stream, and each entry of the segment is an event whose index is
//! the entry number. The last event has the kind `EndSegment`. The log continues in the event
//! stream of the next segment.

use super::span::Span;
use crate::stream::{InvalidStreamName, Kind, StreamName};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_SEGMENTS;
use cellar_base::position::Position;
use cellar_base::record::{Item, RecordError};
use cellar_base::table_attributes::PARTITION_KEY;
use cellar_log::entry::Content;
use cellar_log::records::entry::{EDITS, END_SEGMENT, SNAPSHOT, decode_key_and_type};

/// Category of the event streams that represent log segments.
pub const LOG_CATEGORY: &str = "Log";

/// Separator between the log id and the segment number in a stream name.
const SEGMENT_MARK: char = '.';
/// Number of digits of the segment number in a stream name. The number is padded with zeros, so
/// that the names sort by segment.
const SEGMENT_DIGITS: usize = 7;

/// Event kind that represents a log entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    Snapshot,
    /// Edits of a client, stored in the entry or as an object.
    Edits,
    EndSegment,
    /// An entry that was moved to S3 before it was added to the feed, so its kind is unknown.
    Offloaded,
}

impl EntryKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Snapshot, Self::Edits, Self::EndSegment, Self::Offloaded];

    /// Returns the event kind that represents this kind of entry.
    #[must_use]
    pub fn kind(self) -> Kind {
        Kind::own(match self {
            Self::Snapshot => "Snapshot",
            Self::Edits => "Edits",
            Self::EndSegment => "EndSegment",
            Self::Offloaded => "Offloaded",
        })
    }

    /// Returns the event kind that represents the content of an entry.
    #[must_use]
    pub fn of(content: &Content) -> Self {
        match content {
            Content::Snapshot { .. } => Self::Snapshot,
            Content::Edits(_) | Content::External(_) => Self::Edits,
            Content::EndSegment => Self::EndSegment,
        }
    }

    /// Returns the event kind that represents a stored entry type, or `None` if the type is
    /// unknown.
    #[must_use]
    pub fn of_letter(letter: &str) -> Option<Self> {
        Some(match letter {
            SNAPSHOT => Self::Snapshot,
            EDITS => Self::Edits,
            END_SEGMENT => Self::EndSegment,
            _ => return None,
        })
    }
}

/// Decodes only the key and the type of an entry record.
fn decode_kind(item: &Item) -> Result<(LogId, Position, EntryKind), RecordError> {
    let (log, position, letter) = decode_key_and_type(item)?;
    let kind = EntryKind::of_letter(&letter);
    Ok((log, position, kind.ok_or(RecordError::UnknownType { letter })?))
}

/// Returns the name `Log-{id}.{segment}` of the event stream that represents a log segment.
///
/// # Errors
/// Never fails, because these names are always valid.
pub fn stream_of_segment(log: LogId, segment: u32) -> Result<StreamName, InvalidStreamName> {
    StreamName::new(LOG_CATEGORY, &format!("{log}{SEGMENT_MARK}{segment:0SEGMENT_DIGITS$}"))
}

/// Returns the log and the segment number in the name of an event stream, or `None` if the event
/// stream does not represent a log segment.
#[must_use]
pub fn segment_of_stream(stream: &StreamName) -> Option<(LogId, u32)> {
    if stream.category() != LOG_CATEGORY {
        return None;
    }
    let (log_id, segment_digits) = stream.id().split_once(SEGMENT_MARK)?;
    let has_only_digits = segment_digits.bytes().all(|byte| byte.is_ascii_digit());
    if segment_digits.len() != SEGMENT_DIGITS || !has_only_digits {
        return None;
    }
    let segment: u32 = segment_digits.parse().ok()?;
    if segment >= MAX_SEGMENTS {
        return None;
    }
    Some((log_id.parse().ok()?, segment))
}

/// Returns the event that represents a newly written entry.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn entry_span(image: &Item) -> Result<Span, RecordError> {
    let (log, position, kind) = decode_kind(image)?;
    entries_span(log, position, vec![kind])
}

/// Returns the events that represent consecutive entries of a segment.
///
/// # Errors
/// Never fails, because the stream names are always valid.
pub fn entries_span(
    log: LogId,
    first: Position,
    kinds: Vec<EntryKind>,
) -> Result<Span, RecordError> {
    let expected = "a log UUID and a segment number";
    let fault = RecordError::Attribute { record: "entry", name: PARTITION_KEY, expected };
    let stream = stream_of_segment(log, first.segment()).map_err(|_| fault)?;
    let kinds = kinds.into_iter().map(EntryKind::kind).collect();
    Ok(Span { stream, first: u64::from(first.entry_number()), kinds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_log::entry::{Content, Entry};
    use cellar_log::records::entry::encode;

    fn log() -> LogId {
        LogId::from_uuid(uuid::Uuid::from_u128(7))
    }

    #[test]
    fn stream_names_sort_by_segment_and_round_trip() {
        let mut last = None;
        for segment in [0, 1, 9, 10, 99, 100_000, MAX_SEGMENTS - 1] {
            let stream = stream_of_segment(log(), segment).unwrap();
            assert_eq!(segment_of_stream(&stream), Some((log(), segment)));
            assert!(last < Some(stream.clone()), "{stream}");
            last = Some(stream);
        }
        let id = log().to_string();
        for other in [
            format!("Spreadsheet-{id}.0000001"),
            format!("Log-{id}"),
            format!("Log-{id}.1"),
            format!("Log-{id}.+000001"),
            format!("Log-{id}.{MAX_SEGMENTS}"),
            "Log-x.0000001".to_owned(),
        ] {
            assert_eq!(segment_of_stream(&other.parse().unwrap()), None, "{other}");
        }
    }

    #[test]
    fn a_put_record_gives_the_position_and_the_kind() {
        let first = Entry::first(log(), None, 7);
        let end = Entry {
            position: Position::new(3, 9).unwrap(),
            content: Content::EndSegment,
            ..first.clone()
        };
        for (entry, name, kind) in [(first, "0000000", "Snapshot"), (end, "0000003", "EndSegment")]
        {
            let span = entry_span(&encode(&entry).unwrap()).unwrap();
            assert_eq!(span.stream.to_string(), format!("Log-{}.{name}", log()));
            assert_eq!(span.first, u64::from(entry.position.entry_number()));
            assert_eq!(span.kinds, [Kind::new(kind).unwrap()]);
        }
        assert!(entry_span(&Item::new()).is_err());
    }

    #[test]
    fn every_entry_type_has_its_own_kind() {
        let letters = [SNAPSHOT, EDITS, END_SEGMENT].map(EntryKind::of_letter);
        assert_eq!(
            letters.to_vec(),
            EntryKind::ALL.map(Some)[..3],
            "offloaded entries have no type"
        );
        assert_eq!(EntryKind::of_letter("Z"), None);
        let mut kinds = EntryKind::ALL.map(|kind| kind.kind().as_str().to_owned()).to_vec();
        kinds.dedup();
        assert_eq!(kinds.len(), EntryKind::ALL.len());
    }
}
