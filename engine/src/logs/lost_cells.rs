//! Finds cells whose long text is lost and overwrites them with `#LOST!` in a normal edit.

use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::{
    MAX_CELLS_PER_OPERATION, MAX_ENTRY_BODY_BYTES, MAX_LOST_CELLS_AT_ONCE, MAX_RESOLVE_ATTEMPTS,
};
use cellar_base::position::Position;
use cellar_log::append::{Refusal, Request};
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::{ErrorCode, Value};
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_snapshot::cells::stored_cells;
use cellar_snapshot::merge::Window;

use super::view::LongText;
use super::{LogError, Logs, View};

/// Number of cells in the first band of rows, including blank cells.
const BAND_CELLS: u32 = 32 * 1024;
/// Number of non-blank cells below which a band is sparse. After a sparse band, the band height is
/// doubled.
const SPARSE_BAND_CELLS: usize = 8 * 1024;
/// Approximate size of a `#LOST!` cell in an entry, in bytes, excluding its formula.
const CELL_BYTES: usize = 32;

/// A cell whose long text is permanently unreadable.
#[derive(Debug, Clone, PartialEq)]
pub struct LostCell {
    pub sheet: SheetId,
    pub sheet_name: String,
    /// Row and column of the cell.
    pub place: CellName,
    /// Beginning of the text.
    pub preview: String,
    /// Key of the text's object, and the reason why it is unreadable.
    pub why: String,
    /// The cell's formula.
    formula: Option<String>,
}

/// Lost cells of a spreadsheet at a position.
#[derive(Debug, Clone, PartialEq)]
pub struct LostCells {
    /// Position of the searched state.
    pub at: Position,
    /// Lost cells in tab order, limited to [`MAX_LOST_CELLS_AT_ONCE`].
    pub cells: Vec<LostCell>,
    /// Whether the spreadsheet has more lost cells than `cells` contains.
    pub more: bool,
    incarnation: u32,
}

/// Result of replacing lost cells.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplacedCells {
    pub cells: Vec<LostCell>,
    /// Whether lost cells remain for the next call.
    pub more: bool,
    /// Positions of the entries that replaced the cells.
    pub positions: Vec<Position>,
}

impl Logs {
    /// Searches all cells of the latest state for lost texts.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Logs::view`].
    pub async fn lost_cells(&self, log: LogId) -> Result<LostCells, LogError> {
        let mut view = self.view(log, None, None).await?;
        let sheets = view.metadata.tabs.order().iter().filter_map(|sheet| {
            let name = view.metadata.tabs.name(*sheet)?.to_owned();
            Some((*sheet, name, view.metadata.sheets.get(sheet)?.extent))
        });
        let sheets: Vec<(SheetId, String, Extent)> = sheets.collect();
        let mut scan = LostCellScan::default();
        for (sheet, name, extent) in sheets {
            scan.scan_sheet(&mut view, sheet, &name, extent).await?;
        }
        let LostCellScan { cells, more } = scan;
        Ok(LostCells { at: view.position, cells, more, incarnation: view.incarnation })
    }

    /// Writes `#LOST!` into the cells whose text is lost. If other clients edit the spreadsheet
    /// concurrently, the search is retried, so that no edit is overwritten. Idempotent: a cell that
    /// contains `#LOST!` no longer counts as lost.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Logs::lost_cells`] and [`Logs::append`], and
    /// [`Refusal::Contention`] if every attempt conflicted with other edits.
    pub async fn replace_lost_cells(
        &self,
        log: LogId,
        author: &str,
    ) -> Result<ReplacedCells, LogError> {
        let mut replaced = ReplacedCells { cells: Vec::new(), more: false, positions: Vec::new() };
        for _ in 0..MAX_RESOLVE_ATTEMPTS {
            let found = self.lost_cells(log).await?;
            replaced.more = found.more;
            match self.append_replacements(log, author, found, &mut replaced).await {
                Err(LogError::Refused(Refusal::StaleResolution { .. })) => {}
                result => return result.map(|()| replaced),
            }
        }
        Err(LogError::Refused(Refusal::Contention))
    }

    /// Appends one entry per group of cells, provided that the log has not changed since the
    /// search.
    async fn append_replacements(
        &self,
        log: LogId,
        author: &str,
        found: LostCells,
        replaced: &mut ReplacedCells,
    ) -> Result<(), LogError> {
        let LostCells { mut at, cells, incarnation, .. } = found;
        for group in group_by_entry(cells) {
            let client = ClientKey(self.random.next().to_be_bytes());
            let author = Some(author.to_owned());
            let edit = lost_cells_edit(&group);
            let request = Request::directly_after(log, client, author, incarnation, at, edit);
            let appended = self.append(request).await?;
            // If another client appends after this entry, the next request is rejected as stale.
            at = appended.results.first().and_then(|result| result.position).unwrap_or(at);
            replaced.positions.push(at);
            replaced.cells.extend(group);
        }
        Ok(())
    }
}

/// Lost cells found so far.
#[derive(Default)]
struct LostCellScan {
    cells: Vec<LostCell>,
    more: bool,
}

impl LostCellScan {
    async fn scan_sheet(
        &mut self,
        view: &mut View,
        sheet: SheetId,
        name: &str,
        extent: Extent,
    ) -> Result<(), LogError> {
        let mut band_rows = (BAND_CELLS / extent.columns.max(1)).max(1);
        let mut row = 0;
        while row < extent.rows && !self.more {
            let end = row.saturating_add(band_rows).min(extent.rows);
            let window = Window { rows: row..end, columns: 0..extent.columns };
            let tile = view.tile(sheet, &window).await?;
            if tile.cells() < SPARSE_BAND_CELLS {
                band_rows = band_rows.saturating_mul(2);
            }
            for placed in stored_cells(&tile) {
                let Some(hash) = placed.long_text else { continue };
                let LongText::Lost(fault) = view.long_text(hash).await? else { continue };
                if self.cells.len() == MAX_LOST_CELLS_AT_ONCE {
                    self.more = true;
                    return Ok(());
                }
                self.cells.push(LostCell {
                    sheet,
                    sheet_name: name.to_owned(),
                    place: CellName { row: placed.row, column: placed.column },
                    preview: placed.cell.text(),
                    why: fault.summary(),
                    formula: placed.cell.formula,
                });
            }
            row = end;
        }
        Ok(())
    }
}

/// Groups cells by sheet, limited to the size of one entry.
fn group_by_entry(cells: Vec<LostCell>) -> Vec<Vec<LostCell>> {
    let mut groups: Vec<Vec<LostCell>> = Vec::new();
    let mut group_bytes = 0;
    for cell in cells {
        let cell_bytes = CELL_BYTES + cell.formula.as_deref().map_or(0, str::len);
        let fits = |group: &[LostCell]| {
            group.len() < MAX_CELLS_PER_OPERATION
                && group_bytes + cell_bytes <= MAX_ENTRY_BODY_BYTES / 2
                && group.first().is_some_and(|first| first.sheet == cell.sheet)
        };
        if let Some(group) = groups.last_mut()
            && fits(group)
        {
            group_bytes += cell_bytes;
            group.push(cell);
        } else {
            group_bytes = cell_bytes;
            groups.push(vec![cell]);
        }
    }
    groups
}

/// Returns the edit that writes `#LOST!` into cells of one sheet. Formats and formulas are
/// preserved.
fn lost_cells_edit(cells: &[LostCell]) -> Operation {
    let sheet = cells.first().map_or(SheetId::FIRST, |first| first.sheet);
    let edits = cells.iter().map(|cell| CellEdit {
        row: cell.place.row,
        column: cell.place.column,
        value: Some(Value::Error(ErrorCode::Lost)),
        formula: cell.formula.clone(),
        format: None,
    });
    Operation::SetCells(SetCells { sheet, cells: edits.collect() })
}
