//! Fork list records: one per fork, stored in the Segment table under a partition key that is
//! derived from the source log and differs from any segment key.

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_base::record::{Item, Reader, RecordError, put_bytes, put_number, put_text};
use cellar_base::table_attributes::{AUTHOR, CREATED, FORKED_AT, LINEAGE, PARTITION_KEY, SORT_KEY};

const RECORD: &str = "fork";
/// Last byte of a fork list's partition key, after the log UUID. The partition key of segments is
/// only the UUID.
const FORKS: u8 = b'F';

/// An item of a fork list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFork {
    /// Log that was forked.
    pub source: LogId,
    /// List number of the fork. Ascends with the time of the fork.
    pub number: u64,
    /// Log id of the fork.
    pub fork: LogId,
    /// Position of the last inherited entry.
    pub position: Position,
    /// Time at which the fork was created, in seconds since the Unix epoch.
    pub created_s: u64,
    /// Creator: the subject of the token that created the fork.
    pub author: Option<String>,
}

/// Returns the list number of a fork created at `now_ms` (in milliseconds since the Unix epoch).
/// Always below 2⁵³. Forks created in the same millisecond are in arbitrary order; their numbers
/// rarely collide.
#[must_use]
pub fn list_number(fork: LogId, now_ms: u64) -> u64 {
    /// Number of integer bits that a JSON number represents exactly.
    const NUMBER_BITS: u32 = 53;
    /// Number of low bits taken from the fork id. The remaining bits suffice for timestamps in
    /// milliseconds until 2109.
    const ID_BITS: u32 = 11;
    let [.., high, low] = *fork.as_bytes();
    let id_bits = u64::from(u16::from_be_bytes([high, low])) & ((1 << ID_BITS) - 1);
    let max_ms = (1 << (NUMBER_BITS - ID_BITS)) - 1;
    (now_ms.min(max_ms) << ID_BITS) | id_bits
}

/// Returns the partition key of a log's fork list.
#[must_use]
pub fn partition(source: LogId) -> Vec<u8> {
    [source.as_bytes().as_slice(), &[FORKS]].concat()
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
    matches!(reader.array::<17>(PARTITION_KEY), Ok([.., FORKS]))
}

/// Encodes a fork list record.
#[must_use]
pub fn encode(listed: &ListedFork) -> Item {
    let mut item = key(listed.source, listed.number);
    put_bytes(&mut item, LINEAGE, listed.fork.as_bytes().to_vec());
    put_number(&mut item, FORKED_AT, listed.position.pack());
    put_number(&mut item, CREATED, listed.created_s);
    put_text(&mut item, AUTHOR, listed.author.as_deref());
    item
}

/// Decodes a fork list record.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode(item: &Item) -> Result<ListedFork, RecordError> {
    let reader = Reader { record: RECORD, item };
    let log = |bytes: [u8; 16]| LogId::from_uuid(uuid::Uuid::from_bytes(bytes));
    let fault = || reader.fault(PARTITION_KEY, "a log UUID and the mark of a fork list");
    let key: [u8; 17] = reader.array(PARTITION_KEY)?;
    let (source, mark) = key.split_first_chunk::<16>().ok_or_else(fault)?;
    if mark != [FORKS] {
        return Err(fault());
    }
    let position = reader.number(FORKED_AT)?;
    Ok(ListedFork {
        source: log(*source),
        number: reader.number(SORT_KEY)?,
        fork: log(reader.array(LINEAGE)?),
        position: Position::unpack(position).map_err(|_| reader.fault(FORKED_AT, "a position"))?,
        created_s: reader.number(CREATED)?,
        author: reader.optional_text(AUTHOR)?,
    })
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
        // The last byte of a log UUID may equal the last byte of a fork list's partition key.
        let key = segment::key(log(FORKS), u32::from(FORKS));
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
