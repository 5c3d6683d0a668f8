//! What clients were told and what they read: in the end it must all be true.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_catalog::spreadsheet::CatalogEvent;
use cellar_log::entry::Entry;
use cellar_log::invariants::MutationId;
use cellar_sheet::cell::{Cell, Value};
use cellar_sheet::operation::SheetId;

/// Cells that somebody read.
#[derive(Debug, Clone, PartialEq)]
pub struct CellsSeen {
    /// Of which log.
    pub log: LogId,
    /// At which position.
    pub at: Position,
    /// Of which sheet.
    pub sheet: SheetId,
    /// All cells, row by row.
    pub cells: Vec<((u32, u32), Cell)>,
}

/// A sheet that a member imported.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportSeen {
    /// Into which log.
    pub log: LogId,
    /// At which position.
    pub at: Position,
    /// The number that it has there.
    pub sheet: SheetId,
    /// The values of all its cells, row by row.
    pub cells: Vec<((u32, u32), Value)>,
}

/// A change of the catalog that somebody was told is done.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogChange {
    /// Of which log.
    pub log: LogId,
    /// How many changes they had seen, if there were to be no others.
    pub seen: Option<u64>,
    /// What was done.
    pub events: Vec<CatalogEvent>,
}

/// What clients know.
#[derive(Debug, Default)]
pub struct Witness {
    state: Mutex<Seen>,
}

/// All of it.
#[derive(Debug, Default)]
pub struct Seen {
    /// Mutations that a client was told are in the log and took effect, and where.
    pub acknowledged: Vec<(LogId, MutationId, Position)>,
    /// Mutations that were answered as appended, and whether the answer said that they have no effect.
    pub effects: BTreeMap<LogId, BTreeMap<MutationId, bool>>,
    /// Runs of entries that were read.
    pub runs: Vec<(LogId, Vec<Arc<Entry>>)>,
    /// Cells that were read.
    pub cells: Vec<CellsSeen>,
    /// Sheets that were imported.
    pub imports: Vec<ImportSeen>,
    /// Changes of the catalog that somebody was told are done.
    pub changes: Vec<CatalogChange>,
}

/// Cells are checked by a replay each: these are enough of one run.
const MAX_CELLS_SEEN: usize = 12;

impl Witness {
    /// What was seen so far.
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client was told that a mutation is in the log.
    pub fn acknowledged(&self, log: LogId, mutation: MutationId, at: Position) {
        self.seen().acknowledged.push((log, mutation, at));
    }

    /// An answer said whether a mutation that is in the log has an effect.
    pub fn effect(&self, log: LogId, mutation: MutationId, no_effect: bool) {
        self.seen().effects.entry(log).or_default().insert(mutation, no_effect);
    }

    /// Somebody was told that a change of the catalog is done.
    pub fn changed(&self, log: LogId, seen: Option<u64>, events: Vec<CatalogEvent>) {
        self.seen().changes.push(CatalogChange { log, seen, events });
    }

    /// A sheet was imported.
    pub fn imported(&self, import: ImportSeen) {
        self.seen().imports.push(import);
    }

    /// Entries were read, one after the other.
    pub fn read(&self, log: LogId, entries: &[Arc<Entry>]) {
        if !entries.is_empty() {
            self.seen().runs.push((log, entries.to_vec()));
        }
    }

    /// Whether more cells are wanted.
    #[must_use]
    pub fn wants_cells(&self) -> bool {
        self.seen().cells.len() < MAX_CELLS_SEEN
    }

    /// Cells were read.
    pub fn read_cells(&self, cells: CellsSeen) {
        self.seen().cells.push(cells);
    }
}
