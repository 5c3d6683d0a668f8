//! Finds cells whose long text can no longer be read, and replaces their values by the error
//! `#LOST!`.

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

use super::row_bands::RowBands;
use super::view::LongText;
use super::{LogError, Logs, View};

/// Approximate size in bytes of a `#LOST!` cell in an entry, excluding its formula.
const CELL_BYTES: usize = 32;
/// Half of the maximum size of an entry, since cell sizes are only estimated.
const MAX_GROUP_BYTES: usize = MAX_ENTRY_BODY_BYTES / 2;

/// A cell whose long text is permanently unreadable.
#[derive(Debug, Clone, PartialEq)]
pub struct LostCell {
    pub sheet: SheetId,
    pub sheet_name: String,
    /// Row and column of the cell.
    pub place: CellName,
    /// Beginning of the text.
    pub preview: String,
    /// Key of the object that contained the text, and the reason why it cannot be read.
    pub why: String,
    formula: Option<String>,
}

/// The cells of a spreadsheet whose long text is lost.
#[derive(Debug, Clone, PartialEq)]
pub struct LostCells {
    /// Position of the searched state.
    pub at: Position,
    /// Lost cells in tab order, at most [`MAX_LOST_CELLS_AT_ONCE`].
    pub cells: Vec<LostCell>,
    /// Whether the spreadsheet has more lost cells than `cells` contains.
    pub more: bool,
    incarnation: u32,
}

/// Result of replacing lost cells.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplacedCells {
    pub cells: Vec<LostCell>,
    /// Whether more lost cells remain, so that another call is required.
    pub more: bool,
    /// Positions of the entries that replaced the cells.
    pub positions: Vec<Position>,
}

impl Logs {
    /// Searches the latest state of a spreadsheet for cells whose long text is lost.
    ///
    /// # Errors
    ///
    /// Returns [`LogError`] if the log does not exist or cannot be read.
    pub async fn lost_cells(&self, log_id: LogId) -> Result<LostCells, LogError> {
        let mut view = self.open_view(log_id, None, None).await?;
        let tabs = view.metadata.tabs.clone();
        let mut search = LostCellSearch::default();
        for sheet in tabs.order() {
            let extent = view.metadata.sheets.get(sheet).map(|metadata| metadata.extent);
            if let (Some(sheet_name), Some(extent)) = (tabs.name(*sheet), extent) {
                search.search_sheet(&mut view, *sheet, sheet_name, extent).await?;
            }
        }
        let LostCellSearch { cells, more } = search;
        Ok(LostCells { at: view.position, cells, more, incarnation: view.incarnation })
    }

    /// Replaces up to [`MAX_LOST_CELLS_AT_ONCE`] lost cells by the error `#LOST!`. If another
    /// client appends an entry during the search, the search is repeated, so that edits of other
    /// clients are not overwritten. May be repeated, since a replaced cell is no longer lost.
    ///
    /// # Errors
    ///
    /// Returns [`Refusal::Contention`] if other clients appended entries during every attempt, or
    /// another [`LogError`] if the log cannot be read or written.
    pub async fn replace_lost_cells(
        &self,
        log_id: LogId,
        author: &str,
    ) -> Result<ReplacedCells, LogError> {
        let mut replaced = ReplacedCells { cells: Vec::new(), more: false, positions: Vec::new() };
        for _ in 0..MAX_RESOLVE_ATTEMPTS {
            let lost_cells = self.lost_cells(log_id).await?;
            replaced.more = lost_cells.more;
            match self.append_replacements(log_id, author, lost_cells, &mut replaced).await {
                Ok(()) => return Ok(replaced),
                Err(LogError::Refused(Refusal::StaleResolution { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        Err(LogError::Refused(Refusal::Contention))
    }

    /// Returns an error if another client appended an entry after the search.
    async fn append_replacements(
        &self,
        log_id: LogId,
        author: &str,
        lost_cells: LostCells,
        replaced: &mut ReplacedCells,
    ) -> Result<(), LogError> {
        let LostCells { at: mut position, cells, incarnation, .. } = lost_cells;
        for cell_group in group_by_entry(cells) {
            let client = ClientKey(self.random.next().to_be_bytes());
            let author = Some(author.to_owned());
            let edit = lost_cells_edit(&cell_group);
            let request =
                Request::directly_after(log_id, client, author, incarnation, position, edit);
            let appended = self.append(request).await?;
            // The next request must follow this entry directly. If another client appends an entry
            // in between, the request is rejected.
            if let Some(new_position) = appended.results.first().and_then(|result| result.position)
            {
                position = new_position;
            }
            replaced.positions.push(position);
            replaced.cells.extend(cell_group);
        }
        Ok(())
    }
}

#[derive(Default)]
struct LostCellSearch {
    cells: Vec<LostCell>,
    more: bool,
}

impl LostCellSearch {
    async fn search_sheet(
        &mut self,
        view: &mut View,
        sheet: SheetId,
        sheet_name: &str,
        extent: Extent,
    ) -> Result<(), LogError> {
        let mut bands = RowBands::new(0..extent.rows, extent.columns);
        while !self.more
            && let Some(rows) = bands.next_rows()
        {
            let window = Window { rows, columns: 0..extent.columns };
            let tile = view.merged_tile_with_templates(sheet, &window).await?;
            bands.adapt_height(tile.cell_count());
            for tile_cell in stored_cells(&tile) {
                let Some(hash) = tile_cell.long_text else { continue };
                let LongText::Lost(fault) = view.long_text(hash).await? else { continue };
                if self.cells.len() == MAX_LOST_CELLS_AT_ONCE {
                    self.more = true;
                    return Ok(());
                }
                let place = tile_cell.place;
                let cell = tile_cell.cell.with_formula_text(place, &view.metadata.tabs);
                self.cells.push(LostCell {
                    sheet,
                    sheet_name: sheet_name.to_owned(),
                    place,
                    preview: cell.text(),
                    why: fault.summary(),
                    formula: cell.formula,
                });
            }
        }
        Ok(())
    }
}

fn group_by_entry(cells: Vec<LostCell>) -> Vec<Vec<LostCell>> {
    let mut groups: Vec<Vec<LostCell>> = Vec::new();
    let mut last_group_bytes = 0;
    for cell in cells {
        let cell_bytes = CELL_BYTES + cell.formula.as_deref().map_or(0, str::len);
        let fits_into_last_group = groups.last().is_some_and(|group| {
            group.len() < MAX_CELLS_PER_OPERATION
                && last_group_bytes + cell_bytes <= MAX_GROUP_BYTES
                && group.first().is_some_and(|first| first.sheet == cell.sheet)
        });
        if !fits_into_last_group {
            groups.push(Vec::new());
            last_group_bytes = 0;
        }
        if let Some(last_group) = groups.last_mut() {
            last_group.push(cell);
            last_group_bytes += cell_bytes;
        }
    }
    groups
}

/// Preserves the formulas and formats of the cells.
fn lost_cells_edit(cells: &[LostCell]) -> Operation {
    let sheet = cells.first().map_or(SheetId::FIRST, |first| first.sheet);
    let cell_edits = cells.iter().map(|cell| CellEdit {
        row: cell.place.row,
        column: cell.place.column,
        value: Some(Value::Error(ErrorCode::Lost)),
        formula: cell.formula.clone(),
        format: None,
    });
    Operation::SetCells(SetCells { sheet, cells: cell_edits.collect() })
}
