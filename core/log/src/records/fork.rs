//! Record of a fork in its source's fork list: in the Segment table, under a partition key that no
//! segment has.

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_base::record::{Item, Reader, RecordError, put_bytes, put_number, put_text};
use cellar_base::schema::{AUTHOR, CREATED, FORKED_AT, LINEAGE, PARTITION_KEY, SORT_KEY};

const RECORD: &str = "fork";
/// Follows the log's UUID in the partition key, which is thereby one byte longer than that of a
/// segment.
const FORKS: u8 = b'F';

/// A fork in its source's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFork {
    /// Source.
    pub source: LogId,
    /// Number in the list, ascending by time.
    pub number: u64,
    /// Log id of the fork.
    pub fork: LogId,
    /// Last shared position.
    pub position: Position,
    /// Time of the fork, Unix seconds.
    pub created_s: u64,
    /// Author of the fork.
    pub author: Option<String>,
}

/// Returns the number of a fork created at `now_ms` (Unix milliseconds), below 2⁵³. Forks of the
/// same millisecond have no particular order, and rarely the same number.
#[must_use]
pub fn number(fork: LogId, now_ms: u64) -> u64 {
    /// Bits of the fork's id: together with the milliseconds, below 2⁵³ until the year 2109.
    const BITS: u32 = 11;
    let [.., high, low] = *fork.as_bytes();
    let random = u64::from(u16::from_be_bytes([high, low])) & ((1 << BITS) - 1);
    (now_ms.min((1 << (53 - BITS)) - 1) << BITS) | random
}

/// Returns the partition key of a log's fork list.
#[must_use]
pub fn partition(source: LogId) -> Vec<u8> {
    [source.as_bytes().as_slice(), &[FORKS]].concat()
}

/// Returns the key of a fork in its source's list.
#[must_use]
pub fn key(source: LogId, number: u64) -> Item {
    let mut item = Item::new();
    put_bytes(&mut item, PARTITION_KEY, partition(source));
    put_number(&mut item, SORT_KEY, number);
    item
}

/// Returns whether a record of the Segment table belongs to a fork list.
#[must_use]
pub fn is_listed(item: &Item) -> bool {
    let reader = Reader { record: RECORD, item };
    matches!(reader.array::<17>(PARTITION_KEY), Ok([.., FORKS]))
}

/// Encodes a fork in the list.
#[must_use]
pub fn encode(listed: &ListedFork) -> Item {
    let mut item = key(listed.source, listed.number);
    put_bytes(&mut item, LINEAGE, listed.fork.as_bytes().to_vec());
    put_number(&mut item, FORKED_AT, listed.position.pack());
    put_number(&mut item, CREATED, listed.created_s);
    put_text(&mut item, AUTHOR, listed.author.as_deref());
    item
}

/// Decodes a fork in the list.
///
/// # Errors
/// [`RecordError`] with the invalid attribute.
pub fn decode(item: &Item) -> Result<ListedFork, RecordError> {
    let reader = Reader { record: RECORD, item };
    let log = |bytes: [u8; 16]| LogId::from_uuid(uuid::Uuid::from_bytes(bytes));
    let fault = || reader.fault(PARTITION_KEY, "a log's UUID and the mark of its forks");
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
            number: number(log(0xff), 1_795_246_133_000),
            fork: log(0xff),
            position: Position::new(3, 4).unwrap(),
            created_s: 1_795_246_133,
            author: Some("alice".into()),
        }
    }

    #[test]
    fn listed_forks_read_back() {
        for listed in [listed(), ListedFork { author: None, ..listed() }] {
            assert_eq!(decode(&encode(&listed)), Ok(listed));
        }
        let mut far = encode(&listed());
        far.insert(FORKED_AT.to_owned(), Attribute::Number(u64::MAX));
        assert!(decode(&far).unwrap_err().to_string().contains("`P`"));
    }

    #[test]
    fn none_is_taken_for_a_segment_and_no_segment_for_one() {
        let item = encode(&listed());
        assert!(is_listed(&item) && segment::decode(&item).is_err());
        // Even if its id ends like the mark.
        let key = segment::key(log(FORKS), u32::from(FORKS));
        assert!(!is_listed(&key) && decode(&key).is_err());
    }

    #[test]
    fn numbers_ascend_with_time_and_are_exact_in_json() {
        let at = |now_ms| number(log(7), now_ms);
        assert!(at(1_000) < at(1_001) && number(log(8), 1_000) < number(log(7), 1_001));
        assert_ne!(number(log(8), 1_000), at(1_000));
        let last_bits = LogId::from_uuid(uuid::Uuid::from_u128(0xffff));
        assert_eq!(number(last_bits, 1_000), (1_000 << 11) | 0x7ff);
        assert!(at((1 << 42) - 1) < 1 << 53 && at(u64::MAX) == at((1 << 42) - 1));
    }
}
