//! Traces cells back through the entries of a log.

use cellar_api::wire::{CellHistoryCursor, Recovery};
use cellar_base::identity::LogId;
use cellar_base::limits::{
    MAX_CELL_HISTORY_BYTES, MAX_CELL_HISTORY_COMPARISONS, MAX_CELL_HISTORY_ENTRIES,
    MAX_CELL_HISTORY_SPANS,
};
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry, Merged};
use cellar_sheet::operation::{Operation, SheetId};
use cellar_sheet::tracked_cells::{Touch, TrackedCells, TrackedOperation};

use super::super::{LogError, Logs};
use super::CellHistoryQuery;

/// Number of entries read at once. Larger pages would often contain entries that are not needed.
const PAGE_ENTRIES: u32 = 100;

/// The entries that affect the cells, and the start of the next page.
pub(super) struct Walked {
    /// Newest first.
    pub(super) visited: Vec<VisitedEntry>,
    pub(super) next: Option<CellHistoryCursor>,
}

/// An entry with operations that affect the cells.
pub(super) struct VisitedEntry {
    pub(super) position: Position,
    pub(super) created_s: u64,
    pub(super) author: Option<String>,
    pub(super) merged: Option<Merged>,
    /// The cells in the coordinates after the entry.
    pub(super) cells: TrackedCells,
    /// Oldest first. Empty if the entry recovered the sheet.
    pub(super) operations: Vec<TrackedOperation>,
    pub(super) recovered: Option<Recovery>,
}

impl VisitedEntry {
    pub(super) fn touches(&self) -> impl Iterator<Item = &Touch> {
        self.operations.iter().filter_map(|tracked| tracked.touch.as_ref())
    }

    pub(super) fn changes_the_cells(&self) -> bool {
        self.recovered.is_some() || self.touches().next().is_some()
    }

    pub(super) fn imports_the_sheet(&self) -> bool {
        self.touches().any(|touch| *touch == Touch::SheetImported)
    }

    fn edit_count(&self) -> usize {
        let edits = self.operations.iter().map(|tracked| match &tracked.operation {
            Operation::SetCells(set) => set.cells.len(),
            _ => 0,
        });
        edits.sum()
    }

    fn begins_the_cells(&self) -> bool {
        self.touches().any(|touch| matches!(touch, Touch::SheetImported | Touch::SheetAdded))
    }

    pub(super) fn is_by(&self, author: Option<&str>) -> bool {
        author.is_none_or(|author| self.author.as_deref() == Some(author))
    }
}

/// The remaining work of a request and the number of entries that its page may still return.
struct Budget {
    entries: u32,
    bytes: usize,
    edits: usize,
    shown_entries: u32,
}

impl Budget {
    fn of(query: &CellHistoryQuery) -> Self {
        Self {
            entries: MAX_CELL_HISTORY_ENTRIES,
            bytes: MAX_CELL_HISTORY_BYTES,
            edits: MAX_CELL_HISTORY_COMPARISONS / 2,
            shown_entries: query.max_entries.max(1),
        }
    }

    fn spend_on_reading(&mut self, entry: &Entry) {
        self.entries = self.entries.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(stored_bytes(entry));
    }

    fn spend_on(&mut self, entry: &VisitedEntry, author: Option<&str>) {
        let is_shown = entry.changes_the_cells() && entry.is_by(author);
        self.shown_entries = self.shown_entries.saturating_sub(u32::from(is_shown));
        self.edits = self.edits.saturating_sub(entry.edit_count());
    }

    fn is_spent(&self) -> bool {
        self.entries == 0 || self.bytes == 0 || self.edits == 0 || self.shown_entries == 0
    }
}

impl Logs {
    pub(super) async fn walk_back(
        &self,
        log_id: LogId,
        query: &CellHistoryQuery,
        start: CellHistoryCursor,
    ) -> Result<Walked, LogError> {
        let CellHistoryCursor { position, mut cells } = start;
        let mut next_position = Some(position);
        let mut visited = Vec::new();
        let mut budget = Budget::of(query);
        while let Some(position) = next_position {
            if budget.is_spent() {
                return Ok(Walked { visited, next: Some(CellHistoryCursor { position, cells }) });
            }
            let page_entries = usize::try_from(budget.entries.min(PAGE_ENTRIES)).unwrap_or(1);
            for entry in self.read_page_back(log_id, position, page_entries).await? {
                if query.since.is_some_and(|since| entry.position <= since) {
                    return Ok(Walked { visited, next: None });
                }
                let entry_before = self.position_before(log_id, entry.position).await?;
                budget.spend_on_reading(&entry);
                if let Some(old) = self.recovered_cells(log_id, &entry, &cells).await? {
                    let visited_entry =
                        visited_entry(&entry, cells, Vec::new(), Some(old.recovery));
                    budget.spend_on(&visited_entry, query.author.as_deref());
                    visited.push(visited_entry);
                    (next_position, cells) = (Some(old.position), old.cells);
                    break;
                }
                let mutations = self.operations_of(&entry).await?;
                let has_ended = match visit(&mut cells, &entry, &mutations)? {
                    None => false,
                    Some(visited_entry) => {
                        budget.spend_on(&visited_entry, query.author.as_deref());
                        let begins_the_cells = visited_entry.begins_the_cells();
                        visited.push(visited_entry);
                        begins_the_cells || cells.is_empty()
                    }
                };
                next_position = if has_ended { None } else { entry_before };
                if has_ended || budget.is_spent() {
                    break;
                }
            }
        }
        Ok(Walked { visited, next: None })
    }

    /// Returns the cells of the sheet that the entry recovered, or `None` if it did not recover the
    /// sheet of these cells.
    async fn recovered_cells(
        &self,
        log_id: LogId,
        entry: &Entry,
        cells: &TrackedCells,
    ) -> Result<Option<RecoveredCells>, LogError> {
        let Some((recovery, name)) = recovery_of(entry, cells.sheet) else { return Ok(None) };
        let position = match recovery {
            Recovery::Undo(undone) => self.position_before(log_id, undone).await?,
            Recovery::Revert(position) => Some(position),
        };
        let Some(position) = position.filter(|earlier| *earlier < entry.position) else {
            return Ok(None);
        };
        let view = self.open_view(log_id, Some(position), None).await?;
        let old_sheet = view.metadata.tabs.named(name);
        let cells = old_sheet.map(|sheet| TrackedCells { sheet, ..cells.clone() });
        Ok(cells.map(|cells| RecoveredCells { recovery, position, cells }))
    }
}

/// Cells of a sheet before it was deleted and recovered.
struct RecoveredCells {
    recovery: Recovery,
    /// A position at which the sheet was as it was recovered.
    position: Position,
    cells: TrackedCells,
}

/// Returns how the entry recovered a sheet, and the name of the sheet. All sheets that an undo or
/// revert adds are recovered.
fn recovery_of(entry: &Entry, sheet: SheetId) -> Option<(Recovery, &str)> {
    entry.edits()?.mutations.iter().find_map(|mutation| {
        let recovery = match &mutation.authored {
            Operation::Undo(undo) => Recovery::Undo(undo.position),
            Operation::Revert(revert) => Recovery::Revert(revert.position),
            _ => return None,
        };
        let name = mutation.committed_operations().iter().find_map(|operation| match operation {
            Operation::AddSheet(add) if add.sheet == sheet => Some(add.name.as_str()),
            Operation::ImportSheet(import) if import.sheet == sheet => Some(import.name.as_str()),
            _ => None,
        });
        Some((recovery, name?))
    })
}

/// Traces the cells back through an entry. Returns `None` if the entry does not affect them.
fn visit(
    cells: &mut TrackedCells,
    entry: &Entry,
    mutations: &[Vec<Operation>],
) -> Result<Option<VisitedEntry>, LogError> {
    let cells_after = cells.clone();
    let mut operations = Vec::new();
    for operation in mutations.iter().rev().flat_map(|mutation| mutation.iter().rev()) {
        if cells.is_empty() {
            break;
        }
        operations.extend(cells.step_back(operation));
        if cells.rows.len().max(cells.columns.len()) > MAX_CELL_HISTORY_SPANS {
            return Err(LogError::HistoryTooLarge { at: entry.position });
        }
    }
    if operations.is_empty() {
        return Ok(None);
    }
    operations.reverse();
    Ok(Some(visited_entry(entry, cells_after, operations, None)))
}

fn visited_entry(
    entry: &Entry,
    cells: TrackedCells,
    operations: Vec<TrackedOperation>,
    recovered: Option<Recovery>,
) -> VisitedEntry {
    VisitedEntry {
        position: entry.position,
        created_s: entry.created_s,
        author: entry.author.clone(),
        merged: entry.merged().cloned(),
        cells,
        operations,
        recovered,
    }
}

fn stored_bytes(entry: &Entry) -> usize {
    let external_bytes = match &entry.content {
        Content::External(external) => usize::try_from(external.bytes).unwrap_or(usize::MAX),
        Content::Snapshot { .. } | Content::EndSegment | Content::Edits(_) => 0,
    };
    entry.weight_bytes().saturating_add(external_bytes)
}
