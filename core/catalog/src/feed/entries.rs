//! Log entries in the feed.
//!
//! In the feed, each segment of a log is an event stream, whose events are the segment's entries;
//! their indices are the entry numbers. The last event has the kind `EndSegment`, and the next
//! segment's stream continues after it.

use super::span::Span;
use crate::stream::{InvalidStreamName, Kind, StreamName};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_SEGMENTS;
use cellar_base::position::Position;
use cellar_base::record::{Item, RecordError};
use cellar_base::schema::PARTITION_KEY;
use cellar_log::entry::Content;
use cellar_log::records::entry::{EDITS, END_SEGMENT, SNAPSHOT, decode_key_and_type};

/// Category of the streams of log segments.
pub const LOG_CATEGORY: &str = "Log";

/// Separates the log's id from the segment number.
const SEGMENT_MARK: char = '.';
/// Digits of a segment number, so that stream names sort by segment.
const SEGMENT_DIGITS: usize = 7;

/// Kind of an entry in the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// Place of a snapshot.
    Snapshot,
    /// Edits of a client, in the entry or in an external body.
    Edits,
    /// Last entry of a segment.
    EndSegment,
    /// Entry that was offloaded before it was indexed.
    Offloaded,
}

impl EntryKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Snapshot, Self::Edits, Self::EndSegment, Self::Offloaded];

    /// Returns the event kind.
    #[must_use]
    pub fn kind(self) -> Kind {
        Kind::own(match self {
            Self::Snapshot => "Snapshot",
            Self::Edits => "Edits",
            Self::EndSegment => "EndSegment",
            Self::Offloaded => "Offloaded",
        })
    }

    /// Returns the kind of an entry's content.
    #[must_use]
    pub fn of(content: &Content) -> Self {
        match content {
            Content::Snapshot { .. } => Self::Snapshot,
            Content::Edits(_) | Content::External(_) => Self::Edits,
            Content::EndSegment => Self::EndSegment,
        }
    }

    /// Returns the kind for the letter of an entry's type.
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

/// Decodes only the key and the kind of an entry's record.
///
/// # Errors
/// [`RecordError`] with the invalid attribute, or for a type of a later version.
fn decode_kind(item: &Item) -> Result<(LogId, Position, EntryKind), RecordError> {
    let (log, position, letter) = decode_key_and_type(item)?;
    let kind = EntryKind::of_letter(&letter);
    Ok((log, position, kind.ok_or(RecordError::UnknownType { letter })?))
}

/// Returns the name of a log segment's stream: `Log-{id}.{segment}`.
///
/// # Errors
/// Never: the name of every log is valid.
pub fn stream_of_segment(log: LogId, segment: u32) -> Result<StreamName, InvalidStreamName> {
    StreamName::new(LOG_CATEGORY, &format!("{log}{SEGMENT_MARK}{segment:0SEGMENT_DIGITS$}"))
}

/// Returns the log segment of a stream name, if it is one.
#[must_use]
pub fn segment_of_stream(stream: &StreamName) -> Option<(LogId, u32)> {
    if stream.category() != LOG_CATEGORY {
        return None;
    }
    let (log, segment) = stream.id().split_once(SEGMENT_MARK)?;
    let is_padded = segment.len() == SEGMENT_DIGITS && segment.bytes().all(|b| b.is_ascii_digit());
    let segment: u32 = segment.parse().ok().filter(|num| is_padded && *num < MAX_SEGMENTS)?;
    Some((log.parse().ok()?, segment))
}

/// Returns the event of a put of an entry's record.
///
/// # Errors
/// [`RecordError`] with the invalid attribute.
pub fn put(image: &Item) -> Result<Span, RecordError> {
    let (log, position, kind) = decode_kind(image)?;
    span_of(log, position, vec![kind])
}

/// Creates the events of consecutive entries of one segment.
///
/// # Errors
/// Never: the name of every log is valid.
pub fn span_of(log: LogId, first: Position, kinds: Vec<EntryKind>) -> Result<Span, RecordError> {
    let expected = "a log's UUID and the number of a segment";
    let fault = RecordError::Attribute { record: "entry", name: PARTITION_KEY, expected };
    let stream = stream_of_segment(log, first.segment()).map_err(|_| fault)?;
    let kinds = kinds.into_iter().map(EntryKind::kind).collect();
    Ok(Span { stream, first: u64::from(first.num()), kinds })
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
    fn the_streams_of_a_log_sort_as_its_segments_and_are_read_back() {
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
    fn a_put_says_which_entry_and_of_what_kind() {
        let first = Entry::first(log(), None, 7);
        let end = Entry {
            position: Position::new(3, 9).unwrap(),
            content: Content::EndSegment,
            ..first.clone()
        };
        for (entry, name, kind) in [(first, "0000000", "Snapshot"), (end, "0000003", "EndSegment")]
        {
            let span = put(&encode(&entry).unwrap()).unwrap();
            assert_eq!(span.stream.to_string(), format!("Log-{}.{name}", log()));
            assert_eq!(span.first, u64::from(entry.position.num()));
            assert_eq!(span.kinds, [Kind::new(kind).unwrap()]);
        }
        assert!(put(&Item::new()).is_err());
    }

    #[test]
    fn every_letter_has_a_kind_of_its_own() {
        let letters = [SNAPSHOT, EDITS, END_SEGMENT].map(EntryKind::of_letter);
        assert_eq!(letters.to_vec(), EntryKind::ALL.map(Some)[..3], "what is offloaded has none");
        assert_eq!(EntryKind::of_letter("Z"), None);
        let mut kinds = EntryKind::ALL.map(|kind| kind.kind().as_str().to_owned()).to_vec();
        kinds.dedup();
        assert_eq!(kinds.len(), EntryKind::ALL.len());
    }
}
