//! Records of presence. The Segment table has one record per slot, in a partition that is derived from
//! the log, but differs from the partitions of its segments and of its forks.

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_base::record::{Item, Reader, RecordError, put_bytes, put_number, put_text};
use cellar_base::table_attributes::{
    AUTHOR, CLIENT, PARTITION_KEY, SEEN, SELECTED_AT, SELECTION, SORT_KEY,
};
use cellar_sheet::a1::SheetArea;

use crate::presence::{Presence, Selection, StoredPresence};

const RECORD: &str = "presence";
/// Last byte of the partition key, which is the UUID of the log followed by this byte.
const PRESENCE_MARK: u8 = b'P';

const PARTITION_KEY_BYTES: usize = 16 + 1;
const NUMBER_BYTES: usize = 4;
/// Length of an encoded selection. The numbers are big-endian.
const SELECTION_BYTES: usize = SheetArea::NUMBERS * NUMBER_BYTES;

/// Returns the partition key of the presence in a log.
#[must_use]
pub fn partition(log: LogId) -> Vec<u8> {
    [log.as_bytes().as_slice(), &[PRESENCE_MARK]].concat()
}

/// Returns the key of a slot.
#[must_use]
pub fn key(log: LogId, slot: u32) -> Item {
    let mut item = Item::new();
    put_bytes(&mut item, PARTITION_KEY, partition(log));
    put_number(&mut item, SORT_KEY, u64::from(slot));
    item
}

/// Whether a record of the Segment table is a presence.
#[must_use]
pub fn is_presence(item: &Item) -> bool {
    let reader = Reader { record: RECORD, item };
    matches!(reader.array::<PARTITION_KEY_BYTES>(PARTITION_KEY), Ok([.., PRESENCE_MARK]))
}

/// Encodes the presence in a slot.
#[must_use]
pub fn encode(log: LogId, stored: &StoredPresence) -> Item {
    let Presence { client, author, selection, seen_ms } = &stored.presence;
    let mut item = key(log, stored.slot);
    put_bytes(&mut item, CLIENT, client.0.to_vec());
    put_text(&mut item, AUTHOR, Some(author.as_str()).filter(|author| !author.is_empty()));
    put_bytes(&mut item, SELECTION, selection.area.numbers().map(u32::to_be_bytes).concat());
    put_number(&mut item, SELECTED_AT, selection.at.pack());
    put_number(&mut item, SEEN, *seen_ms);
    item
}

/// Decodes the presence in a slot.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode(item: &Item) -> Result<StoredPresence, RecordError> {
    let reader = Reader { record: RECORD, item };
    let at = Position::unpack(reader.number(SELECTED_AT)?)
        .map_err(|_| reader.attribute_error(SELECTED_AT, "a position"))?;
    let area = parse_area(&reader.array(SELECTION)?)
        .ok_or_else(|| reader.attribute_error(SELECTION, "cells of a sheet"))?;
    let presence = Presence {
        client: ClientKey(reader.array(CLIENT)?),
        author: reader.optional_text(AUTHOR)?.unwrap_or_default(),
        selection: Selection { area, at },
        seen_ms: reader.number(SEEN)?,
    };
    Ok(StoredPresence { slot: reader.number_u32(SORT_KEY)?, presence })
}

fn parse_area(bytes: &[u8; SELECTION_BYTES]) -> Option<SheetArea> {
    let (encoded_numbers, _) = bytes.as_chunks::<NUMBER_BYTES>();
    let encoded_numbers: [_; SheetArea::NUMBERS] = encoded_numbers.try_into().ok()?;
    SheetArea::from_numbers(encoded_numbers.map(u32::from_be_bytes))
}

#[cfg(test)]
mod tests {
    use cellar_base::limits::{MAX_AUTHOR_BYTES, MAX_COLUMNS, MAX_ROWS, PRESENCE_SLOTS};
    use cellar_base::record::{Attribute, item_bytes};

    use super::*;
    use crate::records::{fork, segment};

    fn log(byte: u8) -> LogId {
        LogId::from_uuid(uuid::Uuid::from_bytes([byte; 16]))
    }

    fn stored() -> StoredPresence {
        let area = SheetArea::from_numbers([u32::MAX, 0, MAX_ROWS, 0, MAX_COLUMNS]).unwrap();
        let presence = Presence {
            client: ClientKey([7; 8]),
            author: "a".repeat(MAX_AUTHOR_BYTES),
            selection: Selection { area, at: Position::new(3, 4).unwrap() },
            seen_ms: 1_795_246_133_123,
        };
        StoredPresence { slot: PRESENCE_SLOTS - 1, presence }
    }

    #[test]
    fn presences_round_trip() {
        let left = StoredPresence { slot: 0, presence: stored().presence.left() };
        for stored in [stored(), left] {
            assert_eq!(decode(&encode(log(1), &stored)), Ok(stored));
        }
        let beyond = [0, MAX_ROWS, 1, 0, 1].map(u32::to_be_bytes).concat();
        for (name, wrong) in [
            (SELECTED_AT, Attribute::Number(u64::MAX)),
            (SELECTION, Attribute::Bytes(beyond)),
            (SELECTION, Attribute::Bytes(vec![0; SELECTION_BYTES + 1])),
            (CLIENT, Attribute::Bytes(vec![0; 7])),
        ] {
            let mut item = encode(log(1), &stored());
            item.insert(name.to_owned(), wrong);
            assert!(decode(&item).unwrap_err().to_string().contains(&format!("`{name}`")));
        }
    }

    #[test]
    fn presences_segments_and_forks_are_not_confused() {
        let item = encode(log(1), &stored());
        assert!(is_presence(&item) && !fork::is_listed(&item));
        assert!(segment::decode(&item).is_err() && fork::decode(&item).is_err());
        // The last byte of a log UUID may be the byte that marks a presence.
        let segment = segment::key(log(PRESENCE_MARK), 1);
        let fork = fork::key(log(PRESENCE_MARK), 1);
        assert!(!is_presence(&segment) && !is_presence(&fork));
    }

    #[test]
    fn a_write_costs_one_unit_and_all_slots_cost_few() {
        let bytes = item_bytes(&encode(log(1), &stored()));
        assert!(bytes <= 1_024, "{bytes}");
        assert!(bytes * usize::try_from(PRESENCE_SLOTS).unwrap() <= 3 * 4_096, "{bytes}");
    }
}
