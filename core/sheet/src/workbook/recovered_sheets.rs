//! Sheets that were deleted and recovered. A recovered sheet has a new number and new row ids, but it
//! is the sheet that was deleted: edits before the deletion can be compared with edits after it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Workbook;
use super::axis_order::AxisOrder;
use super::moves::Moves;
use super::sheet::{CellId, Sheet, StoredCell};
use super::stored_formula::StoredFormula;
use crate::cell::Cell;
use crate::metadata::Tabs;
use cellar_formula::reference::{Reference, ReferenceSheet};
use cellar_grid::SheetId;

/// A sheet as it was when it was deleted.
#[derive(Debug, Clone, PartialEq)]
pub struct DeletedSheetState {
    number: SheetId,
    name: String,
    rows: AxisOrder,
    columns: AxisOrder,
    /// Formulas contain the names that the sheets had.
    cells: BTreeMap<CellId, Cell>,
    bytes: usize,
}

impl DeletedSheetState {
    /// Returns the number of the sheet.
    #[must_use]
    pub fn number(&self) -> SheetId {
        self.number
    }

    /// Returns the name of the sheet.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the approximate size in memory, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The numbers that deleted sheets have now, keyed by the numbers that they had.
pub type RecoveredNumbers = BTreeMap<SheetId, SheetId>;

impl Workbook {
    /// Returns a copy of a sheet before its deletion, or `None` if the sheet does not exist.
    #[must_use]
    pub fn sheet_before_deletion(&self, number: SheetId) -> Option<DeletedSheetState> {
        let reader = self.sheet(number)?;
        let mut formulas = reader.formulas();
        let with_text = |(id, cell): (&CellId, &StoredCell)| {
            let StoredCell { value, formula, format } = cell.clone();
            let formula = formula.map(|formula| formulas.text(&formula));
            (*id, Cell { value, formula, format })
        };
        let sheet = reader.sheet;
        Some(DeletedSheetState {
            number,
            name: self.tabs.name(number)?.to_owned(),
            rows: sheet.rows.clone(),
            columns: sheet.columns.clone(),
            cells: sheet.cells.iter().map(with_text).collect(),
            bytes: sheet.bytes(),
        })
    }

    /// Returns whether a recovered sheet has all known cells of the deleted one. Number formats are
    /// not compared, because those of ranges may have become those of cells.
    #[must_use]
    pub fn has_cells_of(&self, recovered: SheetId, deleted: &DeletedSheetState) -> bool {
        let Some(reader) = self.sheet(recovered) else { return false };
        let mut formulas = reader.formulas();
        let (rows, columns) = (deleted.rows.index_lookup(), deleted.columns.index_lookup());
        deleted.cells.iter().all(|((row, column), cell)| {
            let place = rows.index(*row).zip(columns.index(*column));
            place.is_some_and(|place| {
                let found = reader.cell_with(place, &mut formulas);
                found.formula == cell.formula
                    && (cell.formula.is_some() || found.value == cell.value)
            })
        })
    }

    /// Gives the rows and columns of a recovered sheet the ids that they had in the deleted one. Must be
    /// called right after the operations that recovered the sheet. With `is_import`, the sheet was
    /// recovered from its import, whose cells may be missing: the cells of the deleted sheet are added.
    pub fn continue_sheet(
        &mut self,
        recovered: SheetId,
        deleted: &DeletedSheetState,
        is_import: bool,
    ) {
        let Self { sheets, tabs, moves, bytes, .. } = self;
        let Some(sheet) = sheets.get_mut(&recovered) else { return };
        *bytes = bytes.saturating_sub(sheet.bytes());
        let mut continued = sheet.with_orders(&deleted.rows, &deleted.columns);
        let no_cells = BTreeMap::new();
        let filled = if is_import { &deleted.cells } else { &no_cells };
        for (id, Cell { value, formula, format }) in filled {
            let own_formula = continued.cells.get(id).and_then(|cell| cell.formula.clone());
            let parse = |text: &String| StoredFormula::parse(text, tabs, moves);
            let formula = own_formula.or_else(|| formula.as_ref().map(parse));
            let (value, format) = (value.clone(), format.clone());
            continued.fill_by_id(*id, StoredCell { value, formula, format });
        }
        *sheet = continued;
        *bytes = bytes.saturating_add(sheet.bytes());
    }

    /// Returns this state with the numbers that deleted sheets have now. How rows moved between it and
    /// other states then follows from the ids of the rows.
    #[must_use]
    pub fn with_recovered_numbers(&self, numbers: &RecoveredNumbers) -> Cow<'_, Self> {
        if numbers.is_empty() {
            return Cow::Borrowed(self);
        }
        let number_of = |sheet: SheetId| numbers.get(&sheet).copied().unwrap_or(sheet);
        let renumbered = |reference: &Reference| match reference.sheet {
            ReferenceSheet::Numbered(sheet) => {
                let sheet = ReferenceSheet::Numbered(number_of(sheet));
                Reference { sheet, area: reference.area }
            }
            ReferenceSheet::Own | ReferenceSheet::Unknown(_) => reference.clone(),
        };
        let resolved = self.clone().without_moves();
        let map_sheet = |(sheet, mut contents): (SheetId, Sheet)| {
            contents.map_references(renumbered);
            (number_of(sheet), contents)
        };
        let named = |sheet: &SheetId| {
            (number_of(*sheet), self.tabs.name(*sheet).unwrap_or_default().to_owned())
        };
        let names = self.tabs.order().iter().map(named).collect();
        Cow::Owned(Self {
            sheets: resolved.sheets.into_iter().map(map_sheet).collect(),
            tabs: Tabs::from_parts(names, self.tabs.used().clone()),
            names: self.names.map_references(renumbered),
            ..resolved
        })
    }

    /// Returns this state without its moves, which all formulas have followed. How rows moved to another
    /// state follows from the ids of the rows.
    pub(super) fn without_moves(mut self) -> Self {
        self.resolve_formulas();
        for sheet in self.sheets.values_mut() {
            sheet.map_references(Reference::clone);
        }
        Self { moves: Moves::unrelated(), ..self }
    }
}
