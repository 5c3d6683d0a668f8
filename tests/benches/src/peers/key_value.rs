//! fjall: an LSM tree of keys and values. Batches of a snapshot's edits, durability as by default: to
//! the operating system, no fsync until it is closed.

use fjall::{Database, KeyspaceCreateOptions};

use crate::Failure;
use crate::clock::{Stopwatch, cpu_s};
use crate::data::Edit;
use crate::works::fold::SNAPSHOT_EDITS;

/// CPU seconds of all edits, with flushes and compactions in the background up to its end.
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
    // As levels in the object store: nothing is left in the journal only.
    cells.rotate_memtable_and_wait()?;
    drop((cells, database));
    Ok(cpu_s() - begin - making.total_s())
}
