//! Traces cells back through the entries of a log.

use cellar_api::wire::{CellHistoryCursor, RecoveredCells, Recovery};
use cellar_base::identity::LogId;
use cellar_base::limits::{
    MAX_CELL_HISTORY_BYTES, MAX_CELL_HISTORY_COMPARISONS, MAX_CELL_HISTORY_ENTRIES,
    MAX_CELL_HISTORY_SPANS,
};
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry, Merged};
use cellar_sheet::operation::Operation;
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
    /// The entry, and the cells in the coordinates after it.
    pub(super) cursor: CellHistoryCursor,
    pub(super) created_s: u64,
    pub(super) author: Option<String>,
    pub(super) merged: Option<Merged>,
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

/// The entries that a request may still read.
pub(super) struct ReadBudget {
    entries: u32,
    bytes: usize,
}

impl Default for ReadBudget {
    fn default() -> Self {
        Self { entries: MAX_CELL_HISTORY_ENTRIES, bytes: MAX_CELL_HISTORY_BYTES }
    }
}

impl ReadBudget {
    pub(super) fn spend_on(&mut self, entry: &Entry) {
        self.entries = self.entries.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(stored_bytes(entry));
    }

    pub(super) fn is_spent(&self) -> bool {
        self.entries == 0 || self.bytes == 0
    }
}

/// The remaining work of a request and the number of entries that its page may still return.
struct Budget {
    reads: ReadBudget,
    edits: usize,
    shown_entries: u32,
}

impl Budget {
    fn of(query: &CellHistoryQuery) -> Self {
        Self {
            reads: ReadBudget::default(),
            edits: MAX_CELL_HISTORY_COMPARISONS / 2,
            shown_entries: query.max_entries.max(1),
        }
    }

    fn spend_on(&mut self, entry: &VisitedEntry, author: Option<&str>) {
        let is_shown = entry.changes_the_cells() && entry.is_by(author);
        self.shown_entries = self.shown_entries.saturating_sub(u32::from(is_shown));
        self.edits = self.edits.saturating_sub(entry.edit_count());
    }

    fn is_spent(&self) -> bool {
        self.reads.is_spent() || self.edits == 0 || self.shown_entries == 0
    }
}

impl Logs {
    pub(super) async fn walk_back(
        &self,
        log_id: LogId,
        query: &CellHistoryQuery,
        start: CellHistoryCursor,
    ) -> Result<Walked, LogError> {
        let (mut next, mut visited) = (Some(start), Vec::new());
        let mut budget = Budget::of(query);
        while let Some(start) = next.take() {
            if budget.is_spent() {
                return Ok(Walked { visited, next: Some(start) });
            }
            let page_entries = usize::try_from(budget.reads.entries.min(PAGE_ENTRIES)).unwrap_or(1);
            let page = self.read_page_back(log_id, start.position, page_entries).await?;
            let mut cursor = start;
            for entry in page {
                if query.since.is_some_and(|since| entry.position <= since) {
                    return Ok(Walked { visited, next: None });
                }
                budget.reads.spend_on(&entry);
                let step = self.step_back(log_id, &entry, cursor).await?;
                if let Some(visited_entry) = step.visited {
                    budget.spend_on(&visited_entry, query.author.as_deref());
                    visited.push(visited_entry);
                }
                let Some(older) = step.older else { return Ok(Walked { visited, next: None }) };
                next = Some(older.clone());
                if step.is_jump || budget.is_spent() {
                    break;
                }
                cursor = older;
            }
        }
        Ok(Walked { visited, next: None })
    }

    async fn step_back(
        &self,
        log_id: LogId,
        entry: &Entry,
        cursor: CellHistoryCursor,
    ) -> Result<HistoryStep, LogError> {
        let start = at_entry(cursor, entry.position);
        if let Some((recovery, older)) = self.recovered_cells(log_id, entry, &start.cells).await? {
            let visited = visited_entry(entry, start, Vec::new(), Some(recovery));
            return Ok(HistoryStep { visited: Some(visited), older: Some(older), is_jump: true });
        }
        let mutations = self.operations_of(entry).await?;
        let (cells, visited) = visit(entry, start.clone(), &mutations)?;
        let begins_the_cells = visited.as_ref().is_some_and(VisitedEntry::begins_the_cells);
        let has_ended = begins_the_cells || (cells.is_empty() && start.recovered.is_none());
        let position = self.position_before(log_id, entry.position).await?.filter(|_| !has_ended);
        let older = position.map(|position| CellHistoryCursor { position, cells, ..start });
        Ok(HistoryStep { visited, older, is_jump: false })
    }
}

/// The effect of one entry on the cells.
struct HistoryStep {
    /// `None` if the entry does not affect the cells.
    visited: Option<VisitedEntry>,
    /// Where the history continues, or `None` if the cells have no older history.
    older: Option<CellHistoryCursor>,
    /// Whether the entry before this one is not the next.
    is_jump: bool,
}

/// Returns the cells at an entry, which is not newer than the cursor. The recovered cells include those
/// that were deleted after the recovered state.
fn at_entry(cursor: CellHistoryCursor, position: Position) -> CellHistoryCursor {
    let CellHistoryCursor { cells, recovered, .. } = cursor;
    match recovered {
        Some(RecoveredCells { position: recovered_position, rows, columns })
            if position <= recovered_position =>
        {
            let cells = TrackedCells { sheet: cells.sheet, rows, columns };
            CellHistoryCursor { position, cells, recovered: None }
        }
        recovered => CellHistoryCursor { position, cells, recovered },
    }
}

/// Traces the cells back through an entry. Returns the cells before it, and `None` if it does not
/// affect them.
fn visit(
    entry: &Entry,
    start: CellHistoryCursor,
    mutations: &[Vec<Operation>],
) -> Result<(TrackedCells, Option<VisitedEntry>), LogError> {
    let mut cells = start.cells.clone();
    let mut operations = Vec::new();
    for operation in mutations.iter().rev().flat_map(|mutation| mutation.iter().rev()) {
        // The recovered cells need the moves of all entries.
        if cells.is_empty() && start.recovered.is_none() {
            break;
        }
        operations.extend(cells.step_back(operation));
        if cells.rows.len().max(cells.columns.len()) > MAX_CELL_HISTORY_SPANS {
            return Err(LogError::HistoryTooLarge { at: entry.position });
        }
    }
    operations.reverse();
    let visited = (!operations.is_empty()).then(|| visited_entry(entry, start, operations, None));
    Ok((cells, visited))
}

fn visited_entry(
    entry: &Entry,
    cursor: CellHistoryCursor,
    operations: Vec<TrackedOperation>,
    recovered: Option<Recovery>,
) -> VisitedEntry {
    VisitedEntry {
        cursor,
        created_s: entry.created_s,
        author: entry.author.clone(),
        merged: entry.merged().cloned(),
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
