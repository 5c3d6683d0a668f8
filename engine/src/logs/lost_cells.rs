//! Cells whose long text is lost: found, and replaced by an ordinary edit.

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
use cellar_snapshot::cells::held;
use cellar_snapshot::merge::Window;

use super::view::LongText;
use super::{LogError, Logs, View};

/// Cells of the first band that is looked at, blank ones included.
const BAND_CELLS: u32 = 32 * 1024;
/// Cells of a band that is said to be sparse: where there is little, more rows at once.
const SPARSE_BAND_CELLS: usize = 8 * 1024;
/// About how many bytes a replaced cell takes in an entry besides its formula.
const CELL_BYTES: usize = 32;

/// A cell whose long text cannot be read, and never will.
#[derive(Debug, Clone, PartialEq)]
pub struct LostCell {
    /// Its sheet.
    pub sheet: SheetId,
    /// The name of the sheet.
    pub sheet_name: String,
    /// Where it is.
    pub place: CellName,
    /// How the text began.
    pub preview: String,
    /// The key of the text's object, and its fault.
    pub why: String,
    /// The formula that gave the text, if there is one.
    formula: Option<String>,
}

/// Lost cells of a spreadsheet.
#[derive(Debug, Clone, PartialEq)]
pub struct LostCells {
    /// The state that was looked at.
    pub at: Position,
    /// The cells, sheet by sheet; at most [`MAX_LOST_CELLS_AT_ONCE`].
    pub cells: Vec<LostCell>,
    /// Whether there are more.
    pub more: bool,
    incarnation: u32,
}

/// Lost cells that were replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplacedCells {
    /// The cells that now hold `#LOST!`.
    pub cells: Vec<LostCell>,
    /// Whether there are more, for the next call.
    pub more: bool,
    /// The entries that say so.
    pub positions: Vec<Position>,
}

impl Logs {
    /// Looks at all cells of the newest state for those whose text is lost.
    ///
    /// # Errors
    /// As [`Logs::view`].
    pub async fn lost_cells(&self, log: LogId) -> Result<LostCells, LogError> {
        let mut view = self.view(log, None, None).await?;
        let sheets = view.metadata.tabs.order().iter().filter_map(|sheet| {
            let name = view.metadata.tabs.name(*sheet)?.to_owned();
            Some((*sheet, name, view.metadata.sheets.get(sheet)?.extent))
        });
        let sheets: Vec<(SheetId, String, Extent)> = sheets.collect();
        let mut found = Found::default();
        for (sheet, name, extent) in sheets {
            found.in_sheet(&mut view, sheet, &name, extent).await?;
        }
        let Found { cells, more } = found;
        Ok(LostCells { at: view.position, cells, more, incarnation: view.incarnation })
    }

    /// Writes `#LOST!` into the cells whose text is lost. Nothing is written over what others edit
    /// meanwhile: it is looked at again then. It may be repeated at any time: what holds `#LOST!` is
    /// not lost any more.
    ///
    /// # Errors
    /// As [`Logs::lost_cells`] and [`Logs::append`]; [`Refusal::Contention`] if others edited all the
    /// time.
    pub async fn replace_lost_cells(
        &self,
        log: LogId,
        author: &str,
    ) -> Result<ReplacedCells, LogError> {
        let mut replaced = ReplacedCells { cells: Vec::new(), more: false, positions: Vec::new() };
        for _ in 0..MAX_RESOLVE_ATTEMPTS {
            let found = self.lost_cells(log).await?;
            replaced.more = found.more;
            match self.replace(log, author, found, &mut replaced).await {
                Err(LogError::Refused(Refusal::StaleResolution { .. })) => {}
                done => return done.map(|()| replaced),
            }
        }
        Err(LogError::Refused(Refusal::Contention))
    }

    /// Appends an entry for each part that fits. Each follows the very state in which the cells were found.
    async fn replace(
        &self,
        log: LogId,
        author: &str,
        found: LostCells,
        replaced: &mut ReplacedCells,
    ) -> Result<(), LogError> {
        let LostCells { mut at, cells, incarnation, .. } = found;
        for part in parts(cells) {
            let client = ClientKey(self.random.next().to_be_bytes());
            let author = Some(author.to_owned());
            let request =
                Request::directly_after(log, client, author, incarnation, at, operation(&part));
            let appended = self.append(request).await?;
            // A later edit of another client makes the next part stale.
            at = appended.results.first().and_then(|result| result.position).unwrap_or(at);
            replaced.positions.push(at);
            replaced.cells.extend(part);
        }
        Ok(())
    }
}

/// Lost cells found so far.
#[derive(Default)]
struct Found {
    cells: Vec<LostCell>,
    more: bool,
}

impl Found {
    async fn in_sheet(
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
            for placed in held(&tile) {
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
                    why: fault.short(),
                    formula: placed.cell.formula,
                });
            }
            row = end;
        }
        Ok(())
    }
}

/// Cells of one sheet each, as many as fit an entry.
fn parts(cells: Vec<LostCell>) -> Vec<Vec<LostCell>> {
    let mut parts: Vec<Vec<LostCell>> = Vec::new();
    let mut bytes = 0;
    for cell in cells {
        let own_bytes = CELL_BYTES + cell.formula.as_deref().map_or(0, str::len);
        let last = parts.last_mut().filter(|part| {
            part.len() < MAX_CELLS_PER_OPERATION
                && bytes + own_bytes <= MAX_ENTRY_BODY_BYTES / 2
                && part.first().is_some_and(|first| first.sheet == cell.sheet)
        });
        match last {
            Some(part) => {
                bytes += own_bytes;
                part.push(cell);
            }
            None => {
                bytes = own_bytes;
                parts.push(vec![cell]);
            }
        }
    }
    parts
}

/// The edit that replaces the cells of one sheet. Their formats and formulas stay.
fn operation(cells: &[LostCell]) -> Operation {
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
