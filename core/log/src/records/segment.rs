//! Records of the Segment table.

use crate::lineage::Lineage;
use crate::segment::Segment;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_base::record::{Item, Reader, RecordError, put_bytes, put_number, put_text};
use cellar_base::table_attributes::{
    CREATED, LAST_SNAPSHOT, LINEAGE, OFFLOADED, PARTITION_KEY, SORT_KEY,
};

const RECORD: &str = "segment";

/// Returns the key of segment `num` of a log.
#[must_use]
pub fn key(log: LogId, num: u32) -> Item {
    let mut item = Item::new();
    put_bytes(&mut item, PARTITION_KEY, log.as_bytes().to_vec());
    put_number(&mut item, SORT_KEY, u64::from(num));
    item
}

/// Encodes a segment.
#[must_use]
pub fn encode(segment: &Segment) -> Item {
    let mut item = key(segment.log, segment.num);
    put_number(&mut item, CREATED, segment.created_s);
    if let Some(num) = segment.last_snapshot {
        put_number(&mut item, LAST_SNAPSHOT, u64::from(num));
    }
    put_text(&mut item, OFFLOADED, segment.offloaded.as_deref());
    if let Some(lineage) = &segment.lineage {
        put_bytes(&mut item, LINEAGE, encode_lineage(lineage));
    }
    item
}

/// First byte of an encoded lineage, which is the version of the layout.
const LINEAGE_VERSION: u8 = 1;
/// Length of an encoded lineage in bytes. The fields are version, source, family, position,
/// `position_ends_segment`, depth, snapshot and fork time. All numbers are big-endian.
const LINEAGE_BYTES: usize = 1 + 16 + 16 + 8 + 1 + 4 + 8 + 8;
/// Stored in place of a snapshot position if the lineage has none.
const NO_SNAPSHOT: u64 = u64::MAX;

fn encode_lineage(lineage: &Lineage) -> Vec<u8> {
    let snapshot = lineage.snapshot.map_or(NO_SNAPSHOT, Position::pack);
    [
        &[LINEAGE_VERSION][..],
        lineage.source.as_bytes(),
        lineage.family.as_bytes(),
        &lineage.position.pack().to_be_bytes(),
        &[u8::from(lineage.position_ends_segment)],
        &lineage.depth.to_be_bytes(),
        &snapshot.to_be_bytes(),
        &lineage.forked_s.to_be_bytes(),
    ]
    .concat()
}

fn decode_lineage(reader: &Reader<'_>) -> Result<Lineage, RecordError> {
    let bytes: [u8; LINEAGE_BYTES] = reader.array(LINEAGE)?;
    parse_lineage(&bytes).ok_or_else(|| reader.attribute_error(LINEAGE, "the lineage of a fork"))
}

fn parse_lineage(bytes: &[u8; LINEAGE_BYTES]) -> Option<Lineage> {
    let mut remaining_bytes = bytes.as_slice();
    let [version] = take(&mut remaining_bytes)?;
    if version != LINEAGE_VERSION {
        return None;
    }
    let source = LogId::from_uuid(uuid::Uuid::from_bytes(take(&mut remaining_bytes)?));
    let family = LogId::from_uuid(uuid::Uuid::from_bytes(take(&mut remaining_bytes)?));
    let position = Position::unpack(take_u64(&mut remaining_bytes)?).ok()?;
    let [position_ends_segment] = take(&mut remaining_bytes)?;
    let depth = u32::from_be_bytes(take(&mut remaining_bytes)?);
    let snapshot = match take_u64(&mut remaining_bytes)? {
        NO_SNAPSHOT => None,
        packed_position => Some(Position::unpack(packed_position).ok()?),
    };
    let forked_s = take_u64(&mut remaining_bytes)?;
    Some(Lineage {
        source,
        position,
        position_ends_segment: position_ends_segment != 0,
        family,
        depth,
        snapshot,
        forked_s,
    })
}

/// Removes a big-endian number from the start of `remaining_bytes` and returns it.
fn take_u64(remaining_bytes: &mut &[u8]) -> Option<u64> {
    take(remaining_bytes).map(u64::from_be_bytes)
}

fn take<const N: usize>(remaining_bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first_bytes, bytes_after) = remaining_bytes.split_first_chunk::<N>()?;
    *remaining_bytes = bytes_after;
    Some(*first_bytes)
}

/// Decodes only the key of a segment record.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode_key(item: &Item) -> Result<(LogId, u32), RecordError> {
    let reader = Reader { record: RECORD, item };
    let log = LogId::from_uuid(uuid::Uuid::from_bytes(reader.array(PARTITION_KEY)?));
    Ok((log, reader.number_u32(SORT_KEY)?))
}

/// Decodes a segment record.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode(item: &Item) -> Result<Segment, RecordError> {
    let reader = Reader { record: RECORD, item };
    let (log, num) = decode_key(item)?;
    let last_snapshot = if item.contains_key(LAST_SNAPSHOT) {
        Some(reader.number_u32(LAST_SNAPSHOT)?)
    } else {
        None
    };
    let lineage = if item.contains_key(LINEAGE) { Some(decode_lineage(&reader)?) } else { None };
    Ok(Segment {
        log,
        num,
        created_s: reader.number(CREATED)?,
        last_snapshot,
        offloaded: reader.optional_text(OFFLOADED)?,
        lineage,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::record::Attribute;

    fn segment() -> Segment {
        Segment {
            log: LogId::from_uuid(uuid::Uuid::from_bytes([7; 16])),
            num: 3,
            created_s: 1_795_246_133,
            last_snapshot: Some(4_000),
            offloaded: Some("offload/x".into()),
            lineage: None,
        }
    }

    #[test]
    fn segments_round_trip() {
        let fresh = Segment { last_snapshot: None, offloaded: None, ..segment() };
        for segment in [segment(), fresh] {
            assert_eq!(decode(&encode(&segment)).unwrap(), segment);
            assert_eq!(decode_key(&key(segment.log, 3)).unwrap(), (segment.log, 3));
        }
    }

    fn fork() -> Segment {
        let log = |byte| LogId::from_uuid(uuid::Uuid::from_bytes([byte; 16]));
        let lineage = Lineage {
            source: log(1),
            position: Position::new(5, 6).unwrap(),
            position_ends_segment: true,
            family: log(2),
            depth: 3,
            snapshot: Position::new(4, 9).ok(),
            forked_s: 1_795_246_133,
        };
        let (last_snapshot, offloaded) = (None, None);
        Segment { num: 0, last_snapshot, offloaded, lineage: Some(lineage), ..segment() }
    }

    #[test]
    fn forks_round_trip_in_a_stable_layout() {
        let segment = fork();
        assert_eq!(decode(&encode(&segment)), Ok(segment.clone()));
        assert_eq!(segment.newest_snapshot(), Position::new(4, 9).ok());
        let Some(Attribute::Bytes(bytes)) = encode(&segment).remove(LINEAGE) else { panic!() };
        let hexadecimal: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let logs = format!("{}{}", "01".repeat(16), "02".repeat(16));
        let numbers = "000000050000000601000000030000000400000009000000006b014835";
        assert_eq!(hexadecimal, format!("01{logs}{numbers}"));
        let lineage = segment.lineage.map(|lineage| Lineage { snapshot: None, ..lineage });
        let without = Segment { lineage, ..segment };
        assert_eq!(decode(&encode(&without)).unwrap(), without);
    }

    #[test]
    fn rejects_a_lineage_of_another_layout() {
        let Some(Attribute::Bytes(bytes)) = encode(&fork()).remove(LINEAGE) else { panic!() };
        let (later, short) = ([&[2], &bytes[1..]].concat(), bytes[1..].to_vec());
        let far = [&bytes[..33], &[0xff; 8], &bytes[41..]].concat();
        for bad in [later, short, far, Vec::new()] {
            let mut item = encode(&fork());
            item.insert(LINEAGE.to_owned(), Attribute::Bytes(bad));
            assert!(decode(&item).unwrap_err().to_string().contains("`F`"));
        }
    }

    #[test]
    fn names_an_attribute_of_the_wrong_type() {
        let mut item = encode(&segment());
        item.insert(LAST_SNAPSHOT.to_owned(), Attribute::Text("4000".into()));
        assert!(decode(&item).unwrap_err().to_string().contains("`L`"));
    }
}
