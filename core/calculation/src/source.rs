//! Supplies cells to the evaluation of a formula and records which inputs are missing.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_functions::{Block as CellBlock, CellSource, LookupIndex, SheetIndex, Size};
use cellar_grid::SheetId;
use cellar_grid::a1::{CellName, Rectangle};
use cellar_sheet::cell::Value;

use crate::block::{BLOCK_ROWS, Block, Part, PartCells};
use crate::cells::{LoadedCells, block_of};
use crate::lookups::SearchedRows;
use crate::request::MissingBlocks;
use crate::run::{Column, StateView};
use crate::segment::Segment;
use crate::staleness::{StaleCause, Staleness};
use crate::workbook::{CalculatedWorkbook, CellKey};

/// Number of recorded formulas at which the search for more of them stops at the end of a block.
const MAX_NEEDED_FORMULAS: usize = 4_096;

/// The first missing input of an evaluation. After it was recorded, all other cells are read as
/// empty, and the result of the evaluation is discarded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Need {
    /// Cells to load.
    Blocks(MissingBlocks),
    /// Formulas to calculate. Only the first cell is known to be needed, because the evaluation may
    /// use its result to decide whether to read the others.
    Formulas(Vec<Segment>),
    /// The hashes of the long texts to load.
    LongTexts(Vec<[u8; 32]>),
    /// Nothing: the evaluation read a stale formula, so the evaluated formula becomes stale too.
    Stale(Staleness),
}

pub(crate) struct Source<'a> {
    workbook: &'a CalculatedWorkbook,
    cells: &'a LoadedCells,
    need: RefCell<Option<Need>>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(workbook: &'a CalculatedWorkbook, cells: &'a LoadedCells) -> Self {
        Self { workbook, cells, need: RefCell::new(None) }
    }

    pub(crate) fn into_need(self) -> Option<Need> {
        self.need.into_inner()
    }

    fn is_over(&self) -> bool {
        self.need.borrow().is_some()
    }

    fn interrupt(&self, need: Need) {
        self.need.borrow_mut().get_or_insert(need);
    }

    fn sheet(&self, index: SheetIndex) -> Option<SheetId> {
        self.workbook.sheet_at(index).map(|(id, ..)| *id)
    }

    /// Returns the block that contains a cell, and the row of the cell relative to the start of the
    /// block. If the block is not loaded, records it as missing. A cell outside the used range has
    /// no block.
    fn block(&self, sheet: SheetId, cell: CellName) -> Option<(&'a Block, u32)> {
        let extent = self.workbook.extent(sheet);
        if self.is_over() || cell.row >= extent.rows || cell.column >= extent.columns {
            return None;
        }
        let block = self.cells.block(sheet, cell);
        if block.is_none() {
            let (number, _) = block_of(cell.row);
            let (column, blocks) = (cell.column, number..number + 1);
            self.interrupt(Need::Blocks(MissingBlocks { sheet, column, blocks }));
        }
        block
    }

    /// Records the missing inputs in rows `first.row..=last_row` of a column: blocks to load,
    /// formulas to calculate or long texts to load. The cell in `first` is missing.
    fn interrupt_in_column(&self, sheet: SheetId, first: CellName, last_row: u32) {
        let mut formulas: Vec<Segment> = Vec::new();
        let mut formula_count = 0;
        let mut texts = Vec::new();
        let (first_block, _) = block_of(first.row);
        let (last_block, _) = block_of(last_row);
        let column = self.cells.column(sheet, first.column);
        if self.is_open(CellKey { sheet, cell: first }) {
            let first = Segment::cell(CellKey { sheet, cell: first });
            self.interrupt(Need::Formulas(vec![first]));
            return;
        }
        for number in first_block..=last_block {
            let Some(block) = column.and_then(|column| column.get(&number)) else {
                if formulas.is_empty() && texts.is_empty() {
                    let (column, blocks) = (first.column, number..last_block + 1);
                    self.interrupt(Need::Blocks(MissingBlocks { sheet, column, blocks }));
                    return;
                }
                break;
            };
            let block_start = number * BLOCK_ROWS;
            let rows = Segment {
                sheet,
                column: first.column,
                first_row: first.row.max(block_start),
                end_row: (last_row + 1).min(block_start + BLOCK_ROWS),
            };
            let found = self.cells.unfinished(rows).unwrap_or_default();
            formula_count += found.iter().map(|found| found.row_count() as usize).sum::<usize>();
            formulas.extend(found);
            if formulas.is_empty() {
                let hashes = block.parts.iter().filter_map(|part| match part.cells {
                    PartCells::LongText(hash) => Some(hash),
                    _ => None,
                });
                texts.extend(hashes);
            }
            if formula_count >= MAX_NEEDED_FORMULAS {
                break;
            }
        }
        let need =
            if formulas.is_empty() { Need::LongTexts(texts) } else { Need::Formulas(formulas) };
        self.interrupt(need);
    }

    fn is_open(&self, key: CellKey) -> bool {
        self.cells.state(key) == Some(StateView::Open)
    }

    fn value(&self, key: CellKey) -> Value {
        let Some((block, row)) = self.block(key.sheet, key.cell) else { return Value::Empty };
        let Some((part, first_row)) = block.part_at(row) else { return self.blank(key) };
        let offset = (row - first_row) as usize;
        match &part.cells {
            PartCells::Empty => self.blank(key),
            PartCells::Numbers(numbers) => {
                numbers.get(offset).map_or(Value::Empty, |number| Value::Number(*number))
            }
            PartCells::Values(values) => values.get(offset).cloned().unwrap_or_default(),
            PartCells::Run(run) => match run.state(offset) {
                StateView::Calculated(_) => run.results.value(offset),
                StateView::Stale(staleness) => {
                    self.interrupt(Need::Stale(staleness.of_reader(key)));
                    Value::Empty
                }
                StateView::Unknown | StateView::Open => {
                    self.interrupt(Need::Formulas(vec![Segment::cell(key)]));
                    Value::Empty
                }
            },
            PartCells::LongText(hash) => {
                self.interrupt(Need::LongTexts(vec![*hash]));
                Value::Empty
            }
        }
    }

    /// Returns the value of a blank cell. The evaluation is interrupted if the result of a stale
    /// formula may fill this cell or one above it.
    fn blank(&self, key: CellKey) -> Value {
        if let Some(anchor) = self.cells.spills.unknown_anchor_of(key) {
            let staleness = Staleness::because_of(StaleCause::UnknownSpill);
            self.interrupt(Need::Stale(staleness.of_reader(anchor)));
        }
        Value::Empty
    }

    /// Passes blank cells of a column to `visit`. Returns `false` if no further cells should be read.
    fn visit_blank(
        &self,
        rows: Range<u32>,
        column: ColumnRead,
        visit: &mut dyn FnMut(CellBlock<'_>) -> bool,
    ) -> bool {
        let last = CellName { row: rows.end.saturating_sub(1), column: column.column };
        self.blank(CellKey { sheet: column.sheet, cell: last });
        !self.is_over() && visit(CellBlock::Empty(rows.end - rows.start))
    }

    /// Passes the cells of a part to `visit`. Returns `false` if no further cells should be read.
    fn visit_part(
        &self,
        part: &'a Part,
        rows: PartRows,
        column: ColumnRead,
        visit: &mut dyn FnMut(CellBlock<'_>) -> bool,
    ) -> bool {
        let (start, end) = (rows.first - rows.part_first, rows.end - rows.part_first);
        let range = start as usize..end as usize;
        match &part.cells {
            PartCells::Empty => {
                let rows = rows.block_first + rows.first..rows.block_first + rows.end;
                self.visit_blank(rows, column, visit)
            }
            PartCells::Numbers(numbers) => {
                visit(CellBlock::Numbers(numbers.get(range).unwrap_or_default()))
            }
            PartCells::Values(values) => {
                visit(CellBlock::Values(values.get(range).unwrap_or_default()))
            }
            PartCells::LongText(_) => {
                let row = rows.block_first + rows.first;
                let first = CellName { row, column: column.column };
                self.interrupt_in_column(column.sheet, first, column.last_row);
                false
            }
            PartCells::Run(run) => {
                // An evaluation reads one cell after the other, however cells are stored, and may stop
                // before a formula without a result.
                let missing = run.first_not_calculated(range.clone());
                let read = range.start..missing.unwrap_or(range.end);
                if !read.is_empty() && !visit(results_block(&run.results, read)) {
                    return false;
                }
                let Some(index) = missing else { return true };
                let offset = u32::try_from(index).unwrap_or(u32::MAX);
                let row = rows.block_first + rows.part_first + offset;
                let cell = CellName { row, column: column.column };
                if let StateView::Stale(staleness) = run.state(index) {
                    let key = CellKey { sheet: column.sheet, cell };
                    self.interrupt(Need::Stale(staleness.of_reader(key)));
                } else {
                    self.interrupt_in_column(column.sheet, cell, column.last_row);
                }
                false
            }
        }
    }

    /// Returns whether all cells of a block in the given rows have values.
    fn has_values(block: &Block, first: u32, end: u32) -> bool {
        let mut start = 0;
        block.parts.iter().all(|part| {
            let part_first = std::mem::replace(&mut start, part.end);
            let rows = first.max(part_first)..end.min(part.end);
            match &part.cells {
                _ if rows.is_empty() => true,
                PartCells::Empty | PartCells::Numbers(_) | PartCells::Values(_) => true,
                PartCells::LongText(_) => false,
                PartCells::Run(run) => {
                    let places =
                        (rows.start - part_first) as usize..(rows.end - part_first) as usize;
                    run.first_not_calculated(places).is_none()
                }
            }
        })
    }
}

/// Returns the results of some cells of a run.
fn results_block(results: &Column, rows: Range<usize>) -> CellBlock<'_> {
    match results {
        Column::Empty => CellBlock::Empty(u32::try_from(rows.len()).unwrap_or(u32::MAX)),
        Column::Numbers(numbers) => CellBlock::Numbers(numbers.get(rows).unwrap_or_default()),
        Column::Values(values) => CellBlock::Values(values.get(rows).unwrap_or_default()),
    }
}

/// The rows of a part to read, relative to the start of the block.
#[derive(Clone, Copy)]
struct PartRows {
    /// First row of the block, as a row index of the sheet.
    block_first: u32,
    /// First row of the part.
    part_first: u32,
    first: u32,
    end: u32,
}

/// The column being read.
#[derive(Clone, Copy)]
struct ColumnRead {
    sheet: SheetId,
    column: u32,
    last_row: u32,
}

impl CellSource for Source<'_> {
    fn grid_size(&self) -> Size {
        Size { rows: MAX_ROWS, columns: MAX_COLUMNS }
    }

    fn sheet_count(&self) -> u32 {
        self.workbook.sheet_count()
    }

    fn sheet_index(&self, name: &str) -> Option<SheetIndex> {
        self.workbook.index_named(name)
    }

    fn sheet_name(&self, sheet: SheetIndex) -> Option<String> {
        self.workbook.sheet_at(sheet).map(|(_, name, _)| name.clone())
    }

    fn used_size(&self, sheet: SheetIndex) -> Size {
        let extent = self.workbook.sheet_at(sheet).map(|(_, _, extent)| *extent);
        let extent = extent.unwrap_or_default();
        Size { rows: extent.rows, columns: extent.columns }
    }

    fn cell(&self, sheet: SheetIndex, cell: CellName) -> Value {
        self.sheet(sheet).map_or(Value::Empty, |sheet| self.value(CellKey { sheet, cell }))
    }

    fn visit_column(
        &self,
        sheet: SheetIndex,
        column: u32,
        first_row: u32,
        last_row: u32,
        visit: &mut dyn FnMut(CellBlock<'_>) -> bool,
    ) {
        let Some(sheet) = self.sheet(sheet) else { return };
        let read = ColumnRead { sheet, column, last_row };
        let loaded = self.cells.column(sheet, column);
        let mut row = first_row;
        while row <= last_row && !self.is_over() {
            let (number, offset) = block_of(row);
            let Some(block) = loaded.and_then(|blocks| blocks.get(&number)) else {
                let first = CellName { row, column };
                return self.interrupt_in_column(sheet, first, last_row);
            };
            let block_first = number * BLOCK_ROWS;
            let block_end = BLOCK_ROWS.min(last_row - block_first + 1);
            let Some((part, part_first)) = block.part_at(offset) else {
                let rows = block_first + offset..block_first + block_end;
                if !self.visit_blank(rows, read, visit) {
                    return;
                }
                row = block_first + block_end;
                continue;
            };
            let end = part.end.min(block_end);
            let rows = PartRows { block_first, part_first, first: offset, end };
            if !self.visit_part(part, rows, read, visit) {
                return;
            }
            row = block_first + end;
        }
    }

    fn has_cells(&self, sheet: SheetIndex, column: u32, first_row: u32, last_row: u32) -> bool {
        let Some(sheet) = self.sheet(sheet) else { return false };
        let (first_block, _) = block_of(first_row);
        let (last_block, _) = block_of(last_row);
        let loaded = self.cells.column(sheet, column);
        (first_block..=last_block).all(|number| {
            let block_start = number * BLOCK_ROWS;
            let first = first_row.max(block_start) - block_start;
            let end = (last_row + 1 - block_start).min(BLOCK_ROWS);
            let block = loaded.and_then(|blocks| blocks.get(&number));
            block.is_some_and(|block| Self::has_values(block, first, end))
        })
    }

    fn lookup_index(
        &self,
        sheet: SheetIndex,
        column: u32,
        first_row: u32,
        last_row: u32,
    ) -> Option<(Arc<LookupIndex>, u64)> {
        let rows = SearchedRows { sheet: self.sheet(sheet)?, column, first_row, last_row };
        self.cells.lookups.index(rows, || {
            if self.is_over() || !self.has_cells(sheet, column, first_row, last_row) {
                return None;
            }
            let mut index = LookupIndex::default();
            self.visit_column(sheet, column, first_row, last_row, &mut |block| {
                index.push(block);
                true
            });
            index.finish();
            (!self.is_over()).then_some(index)
        })
    }

    fn is_interrupted(&self) -> bool {
        self.need.borrow().is_some()
    }

    fn formula(&self, sheet: SheetIndex, cell: CellName) -> Option<String> {
        let (block, row) = self.block(self.sheet(sheet)?, cell)?;
        Some(block.run_at(row)?.run.formula.text_in(cell, self.workbook))
    }

    fn spilled_area(&self, sheet: SheetIndex, cell: CellName) -> Option<Rectangle> {
        let sheet = self.sheet(sheet)?;
        self.cells.spills.area(CellKey { sheet, cell })
    }

    fn defined_name(&self, _: SheetIndex, name: &str) -> Option<String> {
        self.workbook.named_formula(name).map(str::to_owned)
    }
}
