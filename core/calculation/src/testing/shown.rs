//! Evaluates each formula again, over the values that a reader shows.

use std::cell::RefCell;
use std::collections::HashMap;

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_functions::limits::Limits;
use cellar_functions::{
    Array, Block, CellSource, EvaluationOutcome, Formula, SheetIndex, Size, evaluate,
};
use cellar_grid::a1::{CellName, Rectangle};
use cellar_sheet::cell::{ErrorCode, Value};
use cellar_sheet::workbook::CellAt;

use super::{SheetCells, is_same_value};
use crate::workbook::CYCLE_NOTE;
use crate::{CalculatedWorkbook, CellKey};

/// The cells of a spreadsheet as the server or the client library returns them.
pub struct ShownCells<'a> {
    workbook: &'a CalculatedWorkbook,
    cells: HashMap<CellKey, &'a CellAt>,
    reads: RefCell<Reads>,
    /// Formulas whose filled cells are being determined.
    open_anchors: RefCell<Vec<CellKey>>,
}

/// Cells that an evaluation has read.
#[derive(Debug, Default)]
struct Reads {
    stale: Option<CellKey>,
    has_formula: bool,
    /// Whether a formula of a cycle is in a range that was read.
    has_cyclic: bool,
}

/// Numbers of formulas that were checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FormulaCounts {
    /// Formulas whose evaluation gives the shown value.
    pub evaluated: u64,
    /// Formulas of `evaluated` that have read another cell with a formula.
    pub chained: u64,
    /// Formulas whose values are marked as not calculated.
    pub stale: u64,
    /// Formulas in cycles.
    pub cyclic: u64,
    /// Formulas whose results fill other cells.
    pub spilled: u64,
    /// Formulas whose results do not fit.
    pub blocked: u64,
}

fn is_cyclic(cell: &CellAt) -> bool {
    cell.note.as_ref().is_some_and(|note| note.starts_with(CYCLE_NOTE))
}

impl<'a> ShownCells<'a> {
    /// Collects the cells of all sheets.
    #[must_use]
    pub fn new(workbook: &'a CalculatedWorkbook, sheets: &'a SheetCells) -> Self {
        let mut cells = HashMap::new();
        for (sheet, sheet_cells) in sheets {
            for cell in sheet_cells {
                cells.insert(CellKey { sheet: *sheet, cell: cell.name() }, cell);
            }
        }
        Self { workbook, cells, reads: RefCell::default(), open_anchors: RefCell::default() }
    }

    /// Evaluates each formula on its own over the shown values of the cells that it reads, and
    /// compares the result with the shown value. A formula that reads a stale cell must be stale.
    ///
    /// # Errors
    /// Returns a description of the first formula that has another value.
    pub fn check_formulas(&self) -> Result<FormulaCounts, String> {
        let mut counts = FormulaCounts::default();
        for (key, cell) in &self.cells {
            let Some(formula) = &cell.cell.formula else { continue };
            self.check_formula(*key, cell, formula, &mut counts).map_err(|why| {
                let shown = &cell.cell.value;
                format!("sheet {} {} {formula} shows {shown:?}: {why}", key.sheet.0, key.cell)
            })?;
        }
        Ok(counts)
    }

    fn check_formula(
        &self,
        key: CellKey,
        cell: &CellAt,
        formula: &str,
        counts: &mut FormulaCounts,
    ) -> Result<(), String> {
        if cell.stale {
            counts.stale += 1;
            return if cell.note.is_some() { Ok(()) } else { Err("it has no note".to_owned()) };
        }
        let formula = Formula::parse(formula).map_err(|error| error.to_string())?;
        let context = self.workbook.evaluation_context(key, Limits::default());
        self.reads.replace(Reads::default());
        let outcome = evaluate(&formula, &context, self);
        let reads = self.reads.take();
        if is_cyclic(cell) {
            counts.cyclic += 1;
            return check_cycle(cell, &reads);
        }
        if let Some(CellKey { sheet, cell }) = reads.stale {
            return Err(format!("it reads sheet {} {cell}, which is stale", sheet.0));
        }
        let (value, has_note) = match outcome.map_err(|limit| limit.to_string())? {
            EvaluationOutcome::Value(value) => (value, false),
            EvaluationOutcome::Array(array) => match &cell.note {
                Some(note) => {
                    counts.blocked += 1;
                    self.check_obstacle(key, &array, note)?;
                    (cell.cell.value.clone(), true)
                }
                None => {
                    counts.spilled += 1;
                    self.check_spilled_cells(key, &array)?;
                    (array.values.first().cloned().unwrap_or_default(), false)
                }
            },
        };
        if !is_same_value(&value, &cell.cell.value) {
            return Err(format!("its evaluation gives {value:?}"));
        }
        if cell.note.is_some() != has_note {
            return Err(format!("its note is {:?}", cell.note));
        }
        counts.evaluated += 1;
        counts.chained += u64::from(reads.has_formula);
        Ok(())
    }

    /// Checks that the cells of an array show its values.
    fn check_spilled_cells(&self, anchor: CellKey, array: &Array) -> Result<(), String> {
        for (key, value) in cells_of(anchor, array).zip(&array.values).skip(1) {
            let shown = self
                .cells
                .get(&key)
                .filter(|shown| shown.filled_by == Some(anchor.cell.to_string()));
            let Some(shown) = shown else { return Err(format!("{} is not filled", key.cell)) };
            if !is_same_value(&shown.cell.value, value) || shown.cell.formula.is_some() {
                return Err(format!("{} shows {:?}, not {value:?}", key.cell, shown.cell));
            }
        }
        Ok(())
    }

    /// Checks that an array does not fit.
    fn check_obstacle(&self, anchor: CellKey, array: &Array, note: &str) -> Result<(), String> {
        let names_cell = note.contains("the result needs");
        let is_content = |key: &CellKey| {
            let cell = self.cells.get(key).map(|shown| &shown.cell);
            cell.is_some_and(|cell| cell.value != Value::Empty || cell.formula.is_some())
        };
        let has_content = cells_of(anchor, array).skip(1).any(|key| is_content(&key));
        if names_cell && !has_content { Err(format!("{note}: it would fit")) } else { Ok(()) }
    }

    fn read(&self, key: CellKey) -> Value {
        let Some(cell) = self.cells.get(&key) else { return Value::Empty };
        let mut reads = self.reads.borrow_mut();
        if cell.stale {
            reads.stale.get_or_insert(key);
        }
        reads.has_formula |= cell.cell.formula.is_some();
        reads.has_cyclic |= is_cyclic(cell);
        cell.cell.value.clone()
    }

    fn key(&self, sheet: SheetIndex, cell: CellName) -> Option<CellKey> {
        let (sheet, ..) = self.workbook.sheet_at(sheet)?;
        Some(CellKey { sheet: *sheet, cell })
    }
}

/// Returns the cells that an array fills, in the order of its values.
fn cells_of(anchor: CellKey, array: &Array) -> impl Iterator<Item = CellKey> {
    let CellKey { sheet, cell: CellName { row: first_row, column: first_column } } = anchor;
    let index = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
    let columns = array.columns;
    let rows = (0..array.rows).map(move |row| first_row.saturating_add(index(row)));
    rows.flat_map(move |row| {
        (0..columns).map(move |column| {
            let column = first_column.saturating_add(index(column));
            CellKey { sheet, cell: CellName { row, column } }
        })
    })
}

/// A cycle consists of formulas that read each other.
fn check_cycle(cell: &CellAt, reads: &Reads) -> Result<(), String> {
    if cell.cell.value != Value::Error(ErrorCode::Ref) {
        return Err("it is in a cycle".to_owned());
    }
    if reads.has_cyclic { Ok(()) } else { Err("it reads no formula of a cycle".to_owned()) }
}

impl CellSource for ShownCells<'_> {
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
        self.key(sheet, cell).map_or(Value::Empty, |key| self.read(key))
    }

    fn visit_column(
        &self,
        sheet: SheetIndex,
        column: u32,
        first_row: u32,
        last_row: u32,
        visit: &mut dyn FnMut(Block<'_>) -> bool,
    ) {
        for row in first_row..=last_row {
            let value = self.cell(sheet, CellName { row, column });
            if !visit(Block::Values(std::slice::from_ref(&value))) {
                break;
            }
        }
    }

    fn spilled_area(&self, sheet: SheetIndex, cell: CellName) -> Option<Rectangle> {
        let anchor = self.key(sheet, cell)?;
        let formula = Formula::parse(self.cells.get(&anchor)?.cell.formula.as_ref()?).ok()?;
        self.cells.get(&anchor).filter(|cell| cell.note.is_none())?;
        if self.open_anchors.borrow().contains(&anchor) {
            return None;
        }
        self.open_anchors.borrow_mut().push(anchor);
        let context = self.workbook.evaluation_context(anchor, Limits::default());
        let outcome = evaluate(&formula, &context, self);
        self.open_anchors.borrow_mut().pop();
        match outcome.ok()? {
            EvaluationOutcome::Value(_) => None,
            EvaluationOutcome::Array(array) => {
                let last = cells_of(anchor, &array).last()?;
                Some(Rectangle { first: cell, last: last.cell })
            }
        }
    }

    fn formula(&self, sheet: SheetIndex, cell: CellName) -> Option<String> {
        self.cells.get(&self.key(sheet, cell)?)?.cell.formula.clone()
    }

    fn defined_name(&self, _: SheetIndex, name: &str) -> Option<String> {
        self.workbook.named_formula(name).map(str::to_owned)
    }
}
