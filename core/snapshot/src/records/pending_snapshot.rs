//! Encoding of PendingSnapshots table records.

use crate::pending_snapshot::{PendingSnapshot, Rebuild};
use crate::snapshot_job::SnapshotJob;
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_PROGRESS_BYTES;
use cellar_base::position::Position;
use cellar_base::record::{Item, Reader, RecordError, put_bytes, put_number, put_text};
use cellar_base::table_attributes::{
    ACTIVE, CREATED, EXTERNAL, INCREMENT, MODIFIED, PARTITION_KEY, PROGRESS, REBUILD, SORT_KEY,
};

const RECORD: &str = "pending snapshot";

/// Returns the key of the pending snapshot at `position`. The sort key is the packed position, so
/// that a query returns the pending snapshots of a log in build order.
#[must_use]
pub fn key(log: LogId, position: Position) -> Item {
    let mut item = Item::new();
    put_bytes(&mut item, PARTITION_KEY, log.as_bytes().to_vec());
    put_number(&mut item, SORT_KEY, position.pack());
    item
}

/// Encodes a pending snapshot.
///
/// # Errors
/// Returns a [`RecordError`] if the progress exceeds `MAX_PROGRESS_BYTES`.
pub fn encode(record: &PendingSnapshot) -> Result<Item, RecordError> {
    if record.progress.len() > MAX_PROGRESS_BYTES {
        return Err(progress_too_long());
    }
    let mut item = key(record.job.log, record.job.position);
    put_number(&mut item, CREATED, record.created_s);
    put_number(&mut item, MODIFIED, record.modified_s);
    put_number(&mut item, ACTIVE, u64::from(record.active));
    put_number(&mut item, INCREMENT, record.increment);
    put_bytes(&mut item, PROGRESS, record.progress.clone());
    if let Some(Rebuild { run, replaces }) = &record.rebuild {
        put_number(&mut item, REBUILD, *run);
        put_text(&mut item, EXTERNAL, replaces.as_deref());
    }
    Ok(item)
}

/// Decodes only the key of a pending snapshot.
///
/// # Errors
/// Returns a [`RecordError`] if an attribute is missing or invalid.
pub fn decode_key(item: &Item) -> Result<SnapshotJob, RecordError> {
    let reader = Reader { record: RECORD, item };
    let log = LogId::from_uuid(uuid::Uuid::from_bytes(reader.array(PARTITION_KEY)?));
    let position = Position::unpack(reader.number(SORT_KEY)?)
        .map_err(|_| reader.attribute_error(SORT_KEY, "a position"))?;
    Ok(SnapshotJob { log, position })
}

/// Decodes a pending snapshot.
///
/// # Errors
/// Returns a [`RecordError`] if an attribute is missing or invalid.
pub fn decode(item: &Item) -> Result<PendingSnapshot, RecordError> {
    let reader = Reader { record: RECORD, item };
    let progress = reader.bytes(PROGRESS)?.to_vec();
    if progress.len() > MAX_PROGRESS_BYTES {
        return Err(progress_too_long());
    }
    Ok(PendingSnapshot {
        job: decode_key(item)?,
        created_s: reader.number(CREATED)?,
        modified_s: reader.number(MODIFIED)?,
        active: read_active(&reader)?,
        increment: reader.number(INCREMENT)?,
        progress,
        rebuild: read_rebuild(&reader)?,
    })
}

fn read_active(reader: &Reader<'_>) -> Result<bool, RecordError> {
    match reader.number(ACTIVE)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(reader.attribute_error(ACTIVE, "0 or 1")),
    }
}

fn read_rebuild(reader: &Reader<'_>) -> Result<Option<Rebuild>, RecordError> {
    let Some(run) = reader.optional_number(REBUILD)? else { return Ok(None) };
    Ok(Some(Rebuild { run, replaces: reader.optional_text(EXTERNAL)? }))
}

fn progress_too_long() -> RecordError {
    RecordError::Attribute { record: RECORD, name: PROGRESS, expected: "at most 4 KB" }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use cellar_base::limits::MAX_SEGMENTS;
    use cellar_base::record::Attribute;

    fn pending() -> PendingSnapshot {
        let log = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
        PendingSnapshot {
            job: SnapshotJob { log, position: Position::new(3, 4_000).unwrap() },
            created_s: 1_795_246_133,
            modified_s: 1_795_246_140,
            active: true,
            increment: 9,
            progress: vec![1, 2, 3],
            rebuild: None,
        }
    }

    proptest! {
        #[test]
        fn every_pending_snapshot_reads_back(
            segment in 0..MAX_SEGMENTS, num: u32, active: bool, increment: u64,
            progress in prop::collection::vec(any::<u8>(), 0..64),
            rebuild in prop::option::of((any::<u64>(), prop::option::of("[a-z/]{1,80}"))),
        ) {
            let rebuild = rebuild.map(|(run, replaces)| Rebuild { run, replaces });
            let job = SnapshotJob { position: Position::new(segment, num).unwrap(), ..pending().job };
            let pending =
                PendingSnapshot { job, active, increment, progress, rebuild, ..pending() };
            let item = encode(&pending).unwrap();
            prop_assert_eq!(decode(&item).unwrap(), pending);
            prop_assert_eq!(decode_key(&key(job.log, job.position)).unwrap(), job);
        }
    }

    #[test]
    fn progress_has_at_most_its_maximum_bytes() {
        let with = |bytes| PendingSnapshot { progress: vec![0; bytes], ..pending() };
        let longest = encode(&with(MAX_PROGRESS_BYTES)).unwrap();
        assert!(decode(&longest).is_ok());
        assert!(encode(&with(MAX_PROGRESS_BYTES + 1)).is_err());
        let mut longer = longest;
        let bytes = vec![0; MAX_PROGRESS_BYTES + 1];
        longer.insert(PROGRESS.to_owned(), Attribute::Bytes(bytes));
        assert!(decode(&longer).is_err());
    }

    #[test]
    fn every_missing_attribute_is_named() {
        let whole = encode(&pending()).unwrap();
        for name in [PARTITION_KEY, SORT_KEY, CREATED, MODIFIED, ACTIVE, INCREMENT, PROGRESS] {
            let mut item = whole.clone();
            item.remove(name);
            let error = decode(&item).unwrap_err().to_string();
            assert!(error.contains(&format!("`{name}`")), "{error}");
        }
        for (name, number) in [(ACTIVE, 2), (SORT_KEY, u64::MAX)] {
            let mut item = whole.clone();
            item.insert(name.to_owned(), Attribute::Number(number));
            assert!(decode(&item).unwrap_err().to_string().contains(&format!("`{name}`")));
        }
    }
}
