//! How far an import is, for whoever looks from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cellar_exchange::ImportProgress as ReadProgress;
use cellar_snapshot::tile::Tile;

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UploadProgress {
    /// Bytes of the file that have been read.
    pub read: ReadProgress,
    /// Cells that have been read.
    pub cells: u64,
    /// Those of them that have a formula.
    pub formulas: u64,
    /// Objects that have been sent.
    pub objects: u64,
    /// Their bytes.
    pub object_bytes: u64,
    /// The entry is on its way into the log: if it ends now, it is not known whether it got there.
    pub is_appending: bool,
}

/// Looks at an import while it runs. Clones look at the same.
#[derive(Debug, Clone, Default)]
pub struct Watch(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    read: AtomicU64,
    total: AtomicU64,
    cells: AtomicU64,
    formulas: AtomicU64,
    objects: AtomicU64,
    object_bytes: AtomicU64,
    is_appending: AtomicBool,
}

impl Watch {
    /// How far it is now.
    #[must_use]
    pub fn now(&self) -> UploadProgress {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let counts = &self.0;
        UploadProgress {
            read: ReadProgress { done: get(&counts.read), total: get(&counts.total) },
            cells: get(&counts.cells),
            formulas: get(&counts.formulas),
            objects: get(&counts.objects),
            object_bytes: get(&counts.object_bytes),
            is_appending: counts.is_appending.load(Ordering::Relaxed),
        }
    }

    pub(super) fn read(&self, progress: ReadProgress) {
        self.0.read.store(progress.done, Ordering::Relaxed);
        self.0.total.store(progress.total, Ordering::Relaxed);
    }

    pub(super) fn cells(&self, tile: &Tile) {
        let add = |count: &AtomicU64, more: usize| {
            count.fetch_add(u64::try_from(more).unwrap_or(u64::MAX), Ordering::Relaxed);
        };
        add(&self.0.cells, tile.cells());
        add(&self.0.formulas, tile.formulas());
    }

    /// The cells come anew.
    pub(super) fn restart(&self) {
        self.0.cells.store(0, Ordering::Relaxed);
        self.0.formulas.store(0, Ordering::Relaxed);
    }

    pub(super) fn sent(&self, bytes: u32) {
        self.0.objects.fetch_add(1, Ordering::Relaxed);
        self.0.object_bytes.fetch_add(u64::from(bytes), Ordering::Relaxed);
    }

    pub(super) fn appends(&self) {
        self.0.is_appending.store(true, Ordering::Relaxed);
    }
}
