//! The record of the Segment table.

use super::{Item, Reader, RecordError, put_bytes, put_number, put_text};
use crate::identity::LogId;
use crate::schema::{ARCHIVE, CREATED, LAST_SNAPSHOT, PARTITION_KEY, SORT_KEY};
use crate::segment::Segment;

const RECORD: &str = "segment";

/// The key of segment `num` of a log.
#[must_use]
pub fn key(log: LogId, num: u32) -> Item {
    let mut item = Item::new();
    put_bytes(&mut item, PARTITION_KEY, log.as_bytes().to_vec());
    put_number(&mut item, SORT_KEY, u64::from(num));
    item
}

/// The record of a segment.
#[must_use]
pub fn encode(segment: &Segment) -> Item {
    let mut item = key(segment.log, segment.num);
    put_number(&mut item, CREATED, segment.created_s);
    if let Some(num) = segment.last_snapshot {
        put_number(&mut item, LAST_SNAPSHOT, u64::from(num));
    }
    put_text(&mut item, ARCHIVE, segment.archive.as_deref());
    item
}

/// Reads only the key of a segment's record: which log, and which segment of it.
///
/// # Errors
/// [`RecordError`] with the attribute that is wrong.
pub fn decode_key(item: &Item) -> Result<(LogId, u32), RecordError> {
    let reader = Reader { record: RECORD, item };
    let log = LogId::from_uuid(uuid::Uuid::from_bytes(reader.array(PARTITION_KEY)?));
    Ok((log, reader.small(SORT_KEY)?))
}

/// Reads the record of a segment.
///
/// # Errors
/// [`RecordError`] with the attribute that is wrong.
pub fn decode(item: &Item) -> Result<Segment, RecordError> {
    let reader = Reader { record: RECORD, item };
    let last_snapshot = match item.contains_key(LAST_SNAPSHOT) {
        true => Some(reader.small(LAST_SNAPSHOT)?),
        false => None,
    };
    let (log, num) = decode_key(item)?;
    Ok(Segment {
        log,
        num,
        created_s: reader.number(CREATED)?,
        last_snapshot,
        archive: reader.optional_text(ARCHIVE)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Attribute;

    fn segment() -> Segment {
        Segment {
            log: LogId::from_uuid(uuid::Uuid::from_bytes([7; 16])),
            num: 3,
            created_s: 1_795_246_133,
            last_snapshot: Some(4_000),
            archive: Some("archive/x".into()),
        }
    }

    #[test]
    fn segments_read_back() {
        let fresh = Segment { last_snapshot: None, archive: None, ..segment() };
        for segment in [segment(), fresh] {
            assert_eq!(decode(&encode(&segment)).unwrap(), segment);
            assert_eq!(decode_key(&key(segment.log, 3)).unwrap(), (segment.log, 3));
        }
    }

    #[test]
    fn an_attribute_of_another_type_is_named() {
        let mut item = encode(&segment());
        item.insert(LAST_SNAPSHOT.to_owned(), Attribute::Text("4000".into()));
        assert!(decode(&item).unwrap_err().to_string().contains("`L`"));
    }
}
