//! Records all responses that clients received. The checks at the end verify them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_catalog::spreadsheet::CatalogEvent;
use cellar_log::entry::Entry;
use cellar_log::invariants::{MutationId, ReportedEffect};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::CellAt;

/// Cells that a client has read.
#[derive(Debug, Clone, PartialEq)]
pub struct CellsSeen {
    /// Id of the log.
    pub log: LogId,
    /// Position at which the cells were read.
    pub at: Position,
    /// Number of the sheet.
    pub sheet: SheetId,
    /// All cells, row by row.
    pub cells: Vec<CellAt>,
}

/// A sheet that a member has imported.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportSeen {
    /// Id of the log.
    pub log: LogId,
    /// Position of the import.
    pub at: Position,
    /// Number that the sheet got in the log.
    pub sheet: SheetId,
    /// The values of all cells, row by row.
    pub cells: Vec<((u32, u32), Value)>,
}

/// An acknowledged change of the catalog.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogChange {
    /// Id of the spreadsheet's log.
    pub log: LogId,
    /// Number of changes that the user had seen, if the change was conditional on this number.
    pub seen: Option<u64>,
    /// The events of the change.
    pub events: Vec<CatalogEvent>,
}

/// Records what the clients have observed. Shared by all clients.
#[derive(Debug, Default)]
pub struct Witness {
    state: Mutex<Seen>,
}

/// All observations in a run.
#[derive(Debug, Default)]
pub struct Seen {
    /// Mutations that were acknowledged as effective, with their positions.
    pub acknowledged: Vec<(LogId, MutationId, Position)>,
    /// Acknowledged mutations, and whether the response reported an effect.
    pub effects: BTreeMap<LogId, BTreeMap<MutationId, ReportedEffect>>,
    /// Sequences of consecutive entries that clients have read.
    pub runs: Vec<(LogId, Vec<Arc<Entry>>)>,
    /// Cells that were read.
    pub cells: Vec<CellsSeen>,
    /// Sheets that were imported.
    pub imports: Vec<ImportSeen>,
    /// Acknowledged changes of the catalog.
    pub changes: Vec<CatalogChange>,
}

/// Maximum number of reads of cells that are recorded per run. It is limited because checking a
/// read requires a replay of the log.
const MAX_CELLS_SEEN: usize = 12;

impl Witness {
    /// Locks and returns the observations.
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a mutation was acknowledged as effective.
    pub fn record_acknowledged(&self, log: LogId, mutation: MutationId, at: Position) {
        self.seen().acknowledged.push((log, mutation, at));
    }

    /// Records whether an acknowledged mutation had an effect.
    pub fn record_effect(&self, log: LogId, mutation: MutationId, effect: ReportedEffect) {
        self.seen().effects.entry(log).or_default().insert(mutation, effect);
    }

    /// Records an acknowledged change of the catalog.
    pub fn record_change(&self, log: LogId, seen: Option<u64>, events: Vec<CatalogEvent>) {
        self.seen().changes.push(CatalogChange { log, seen, events });
    }

    /// Records an import.
    pub fn record_import(&self, import: ImportSeen) {
        self.seen().imports.push(import);
    }

    /// Records consecutive entries that a client has read.
    pub fn record_read(&self, log: LogId, entries: &[Arc<Entry>]) {
        if !entries.is_empty() {
            self.seen().runs.push((log, entries.to_vec()));
        }
    }

    /// Returns whether more reads of cells should be recorded.
    #[must_use]
    pub fn wants_cells(&self) -> bool {
        self.seen().cells.len() < MAX_CELLS_SEEN
    }

    /// Records cells that a client has read.
    pub fn record_cells(&self, cells: CellsSeen) {
        self.seen().cells.push(cells);
    }
}
