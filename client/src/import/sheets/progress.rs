//! Progress of a running import.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cellar_exchange::ImportProgress as ReadProgress;
use cellar_snapshot::tile::Tile;

/// Progress of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct UploadProgress {
    /// Number of bytes read so far, and size of the file in bytes.
    pub read: ReadProgress,
    /// Number of cells read.
    pub cells: u64,
    /// Number of cells with a formula.
    pub formulas: u64,
    /// Number of uploaded objects.
    pub objects: u64,
    /// Total size of the uploaded objects, in bytes.
    pub object_bytes: u64,
    /// Whether the log entry is being appended. If the import is interrupted now, it is unknown
    /// whether it was committed.
    pub is_appending: bool,
}

/// Progress of a running import. All clones share the same values and may be used by different
/// threads.
#[derive(Debug, Clone, Default)]
pub struct ProgressMonitor(Arc<Counts>);

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

impl ProgressMonitor {
    /// Returns the current progress.
    #[must_use]
    pub fn current(&self) -> UploadProgress {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let counts = &self.0;
        UploadProgress {
            read: ReadProgress { done: load(&counts.read), total: load(&counts.total) },
            cells: load(&counts.cells),
            formulas: load(&counts.formulas),
            objects: load(&counts.objects),
            object_bytes: load(&counts.object_bytes),
            is_appending: counts.is_appending.load(Ordering::Relaxed),
        }
    }

    pub(super) fn set_read(&self, progress: ReadProgress) {
        self.0.read.store(progress.done, Ordering::Relaxed);
        self.0.total.store(progress.total, Ordering::Relaxed);
    }

    pub(super) fn add_cells(&self, tile: &Tile) {
        let to_u64 = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        self.0.cells.fetch_add(to_u64(tile.cell_count()), Ordering::Relaxed);
        self.0.formulas.fetch_add(to_u64(tile.formula_count()), Ordering::Relaxed);
    }

    pub(super) fn reset_cells(&self) {
        self.0.cells.store(0, Ordering::Relaxed);
        self.0.formulas.store(0, Ordering::Relaxed);
    }

    pub(super) fn add_uploaded(&self, bytes: u32) {
        self.0.objects.fetch_add(1, Ordering::Relaxed);
        self.0.object_bytes.fetch_add(u64::from(bytes), Ordering::Relaxed);
    }

    pub(super) fn set_appending(&self) {
        self.0.is_appending.store(true, Ordering::Relaxed);
    }
}
