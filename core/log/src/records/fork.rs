//! Records of fork lists. The Segment table has one record per fork. Its partition key is derived
//! from the source log, but differs from the partition key of the source's segments.

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_base::record::{Item, Reader, RecordError, put_bytes, put_number, put_text};
use cellar_base::table_attributes::{AUTHOR, CREATED, FORKED_AT, LINEAGE, PARTITION_KEY, SORT_KEY};

const RECORD: &str = "fork";
/// Last byte of a fork list's partition key, which is the UUID of the source log followed by this
/// byte. The partition key of segments is the log UUID alone.
const FORK_LIST_MARK: u8 = b'F';

const LOG_ID_BYTES: usize = 16;
const PARTITION_KEY_BYTES: usize = LOG_ID_BYTES + 1;

/// An item of a fork list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFork {
    /// Log that was forked.
    pub source: LogId,
    /// Number of the fork in the fork list of its source. Later forks have higher numbers.
    pub number: u64,
    /// Log id of the fork.
    pub fork: LogId,
    /// Position of the last inherited entry.
    pub position: Position,
    /// Time at which the fork was created, in seconds since the Unix epoch.
    pub created_s: u64,
    /// Creator of the fork: the `sub` claim of the creator's token.
    pub author: Option<String>,
}

/// Returns the list number of a fork that is created at `now_ms`, in milliseconds since the Unix
/// epoch. The number is below 2⁵³. Forks created in the same millisecond have an arbitrary order,
/// and their numbers rarely collide.
#[must_use]
pub fn list_number(fork: LogId, now_ms: u64) -> u64 {
    /// Number of integer bits that a JSON number represents exactly.
    const NUMBER_BITS: u32 = 53;
    /// Number of low-order bits that come from the fork id. The remaining high-order bits contain
    /// the time in milliseconds and suffice until 2109.
    const ID_BITS: u32 = 11;
    const ID_MASK: u64 = (1 << ID_BITS) - 1;
    const MAX_TIMESTAMP_MS: u64 = (1 << (NUMBER_BITS - ID_BITS)) - 1;
    let [.., second_last_byte, last_byte] = *fork.as_bytes();
    let id_bits = u64::from(u16::from_be_bytes([second_last_byte, last_byte])) & ID_MASK;
    (now_ms.min(MAX_TIMESTAMP_MS) << ID_BITS) | id_bits
}

/// Returns the partition key of a log's fork list.
#[must_use]
pub fn partition(source: LogId) -> Vec<u8> {
    [source.as_bytes().as_slice(), &[FORK_LIST_MARK]].concat()
}

/// Returns the key of a fork in its source's fork list.
#[must_use]
pub fn key(source: LogId, number: u64) -> Item {
    let mut item = Item::new();
    put_bytes(&mut item, PARTITION_KEY, partition(source));
    put_number(&mut item, SORT_KEY, number);
    item
}

/// Whether a record of the Segment table belongs to a fork list.
#[must_use]
pub fn is_listed(item: &Item) -> bool {
    let reader = Reader { record: RECORD, item };
    matches!(reader.array::<PARTITION_KEY_BYTES>(PARTITION_KEY), Ok([.., FORK_LIST_MARK]))
}

/// Encodes a fork list record.
#[must_use]
pub fn encode(listed_fork: &ListedFork) -> Item {
    let mut item = key(listed_fork.source, listed_fork.number);
    put_bytes(&mut item, LINEAGE, listed_fork.fork.as_bytes().to_vec());
    put_number(&mut item, FORKED_AT, listed_fork.position.pack());
    put_number(&mut item, CREATED, listed_fork.created_s);
    put_text(&mut item, AUTHOR, listed_fork.author.as_deref());
    item
}

/// Decodes a fork list record.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode(item: &Item) -> Result<ListedFork, RecordError> {
    let reader = Reader { record: RECORD, item };
    let position = Position::unpack(reader.number(FORKED_AT)?)
        .map_err(|_| reader.attribute_error(FORKED_AT, "a position"))?;
    Ok(ListedFork {
        source: read_source(&reader)?,
        number: reader.number(SORT_KEY)?,
        fork: log_id(reader.array(LINEAGE)?),
        position,
        created_s: reader.number(CREATED)?,
        author: reader.optional_text(AUTHOR)?,
    })
}

fn read_source(reader: &Reader<'_>) -> Result<LogId, RecordError> {
    let key: [u8; PARTITION_KEY_BYTES] = reader.array(PARTITION_KEY)?;
    match key.split_first_chunk::<LOG_ID_BYTES>() {
        Some((source, [FORK_LIST_MARK])) => Ok(log_id(*source)),
        _ => {
            let expected = "a log UUID and the mark of a fork list";
            Err(reader.attribute_error(PARTITION_KEY, expected))
        }
    }
}

fn log_id(bytes: [u8; LOG_ID_BYTES]) -> LogId {
    LogId::from_uuid(uuid::Uuid::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::segment;
    use cellar_base::record::Attribute;

    fn log(byte: u8) -> LogId {
        LogId::from_uuid(uuid::Uuid::from_bytes([byte; 16]))
    }

    fn listed() -> ListedFork {
        ListedFork {
            source: log(1),
            number: list_number(log(0xff), 1_795_246_133_000),
            fork: log(0xff),
            position: Position::new(3, 4).unwrap(),
            created_s: 1_795_246_133,
            author: Some("alice".into()),
        }
    }

    #[test]
    fn listed_forks_round_trip() {
        for listed in [listed(), ListedFork { author: None, ..listed() }] {
            assert_eq!(decode(&encode(&listed)), Ok(listed));
        }
        let mut far = encode(&listed());
        far.insert(FORKED_AT.to_owned(), Attribute::Number(u64::MAX));
        assert!(decode(&far).unwrap_err().to_string().contains("`P`"));
    }

    #[test]
    fn fork_items_and_segments_are_not_confused() {
        let item = encode(&listed());
        assert!(is_listed(&item) && segment::decode(&item).is_err());
        // The last byte of a log UUID may be the byte that marks a fork list's partition key.
        let key = segment::key(log(FORK_LIST_MARK), u32::from(FORK_LIST_MARK));
        assert!(!is_listed(&key) && decode(&key).is_err());
    }

    #[test]
    fn list_numbers_ascend_with_time_and_are_exact_in_json() {
        let at = |now_ms| list_number(log(7), now_ms);
        assert!(at(1_000) < at(1_001) && list_number(log(8), 1_000) < list_number(log(7), 1_001));
        assert_ne!(list_number(log(8), 1_000), at(1_000));
        let last_bits = LogId::from_uuid(uuid::Uuid::from_u128(0xffff));
        assert_eq!(list_number(last_bits, 1_000), (1_000 << 11) | 0x7ff);
        assert!(at((1 << 42) - 1) < 1 << 53 && at(u64::MAX) == at((1 << 42) - 1));
    }
}
