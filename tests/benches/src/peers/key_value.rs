//! fjall: an LSM tree of keys and values, with the batches of a snapshot's edits. Default
//! durability: writes reach the operating system, with an fsync only on close.

use fjall::{Database, KeyspaceCreateOptions};

use crate::Failure;
use crate::clock::{Stopwatch, cpu_s};
use crate::data::Edit;
use crate::works::fold::SNAPSHOT_EDITS;

/// Returns the CPU seconds of all edits, including flushes and compactions in the background.
pub(super) fn fold_cpu_s(edits: u32, rows: u32) -> Result<f64, Failure> {
    let folder = tempfile::tempdir()?;
    let mut making = Stopwatch::default();
    let begin = cpu_s();
    let database = Database::builder(folder.path()).open()?;
    let cells = database.keyspace("cells", KeyspaceCreateOptions::default)?;
    for first in (0..edits).step_by(SNAPSHOT_EDITS as usize) {
        let list: Vec<_> = making.run(|| {
            let numbers = first..edits.min(first + SNAPSHOT_EDITS);
            numbers.map(|number| Edit::numbered(number, rows).key_and_value()).collect()
        });
        let mut batch = database.batch();
        for (key, value) in list {
            batch.insert(&cells, key, value);
        }
        batch.commit()?;
    }
    // Like levels in the object store: no data remains only in the journal.
    cells.rotate_memtable_and_wait()?;
    drop((cells, database));
    Ok(cpu_s() - begin - making.total_s())
}
