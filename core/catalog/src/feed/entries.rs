//! Entries of spreadsheets' logs in the feed (design `6-catalog-feed.md` §3).
//!
//! To the feed each segment of a log is a stream of its own, whose events are the segment's entries: their
//! indices are the entries' numbers, which have no gap. The kind of the last one is `EndSegment`, and the next
//! segment's stream goes on where it ends.

use super::span::Span;
use crate::stream::{InvalidStreamName, Kind, StreamName};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_SEGMENTS;
use cellar_base::position::Position;
use cellar_base::record::{Item, RecordError};
use cellar_base::schema::PARTITION_KEY;
use cellar_log::entry::Content;
use cellar_log::records::entry::{EDITS, END_SEGMENT, SNAPSHOT, decode_key_and_type};

/// The category of the streams of log segments.
pub const LOG_CATEGORY: &str = "Log";

/// Between the log's id and the number of the segment.
const SEGMENT_MARK: char = '.';
/// Digits of a segment's number, so that the names of a log's segments sort as the segments do.
const SEGMENT_DIGITS: usize = 7;

/// What an entry is to the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A place at which there is a snapshot, or will be.
    Snapshot,
    /// Edits of a client, in the entry or in an object.
    Edits,
    /// The last entry of a segment.
    EndSegment,
    /// One that was moved into the offloaded segment of its segment.
    Offloaded,
}

impl EntryKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Snapshot, Self::Edits, Self::EndSegment, Self::Offloaded];

    /// The kind of the event.
    #[must_use]
    pub fn kind(self) -> Kind {
        Kind::own(match self {
            Self::Snapshot => "Snapshot",
            Self::Edits => "Edits",
            Self::EndSegment => "EndSegment",
            Self::Offloaded => "Offloaded",
        })
    }

    /// Of what an entry has.
    #[must_use]
    pub fn of(content: &Content) -> Self {
        match content {
            Content::Snapshot { .. } => Self::Snapshot,
            Content::Edits(_) | Content::External(_) => Self::Edits,
            Content::EndSegment => Self::EndSegment,
        }
    }

    /// By the letter of an entry's record.
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

/// Reads only the key and the kind of an entry's record.
///
/// # Errors
/// [`RecordError`] with the attribute that is wrong, or for a type of a later Cellar.
fn decode_kind(item: &Item) -> Result<(LogId, Position, EntryKind), RecordError> {
    let (log, position, letter) = decode_key_and_type(item)?;
    let kind = EntryKind::of_letter(&letter);
    Ok((log, position, kind.ok_or(RecordError::UnknownType { letter })?))
}

/// The stream of a log segment: `Log-{id}.{segment}`.
///
/// # Errors
/// [`InvalidStreamName`], which no log's is.
pub fn stream_of_segment(log: LogId, segment: u32) -> Result<StreamName, InvalidStreamName> {
    StreamName::new(LOG_CATEGORY, &format!("{log}{SEGMENT_MARK}{segment:0SEGMENT_DIGITS$}"))
}

/// The log segment whose stream has this name, if it is one.
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

/// What a put of an entry's record says.
///
/// # Errors
/// [`RecordError`] with the attribute that is wrong.
pub fn put(image: &Item) -> Result<Span, RecordError> {
    let (log, position, kind) = decode_kind(image)?;
    span_of(log, position, vec![kind])
}

/// Entries of one segment that follow each other, the first at a position.
///
/// # Errors
/// [`RecordError`], which no log's is.
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
