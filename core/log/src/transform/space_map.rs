//! Maps cell coordinates from an older state to a later state.

use std::collections::{BTreeMap, BTreeSet};

use super::formula_sheets::FormulaSheets;
use cellar_base::limits::MAX_AXIS_RUNS;
use cellar_sheet::axis_map::{Axis, AxisMap, Run};
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::{DeleteSpans, InsertBefore, Operation, SheetId};

/// Map of a workbook's coordinates from an older state to a later state. A sheet without a sheet
/// map is the same in both states. The older state is what the author of an operation saw: the
/// state at the operation's base, plus the author's own later mutations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpaceMap {
    /// Maps of all changed sheets and of all sheets that the author added.
    sheets: BTreeMap<SheetId, SheetMap>,
    /// Numbers of the sheets that any author added since the older state.
    added_sheets: BTreeSet<SheetId>,
    /// Numbers of the sheets that the author added. For the author, such a number refers to the
    /// author's own sheet, even if others added a sheet with the same number.
    own_sheets: BTreeSet<SheetId>,
    formula_sheets: FormulaSheets,
}

/// Coordinate map of a single sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetMap {
    /// Sheet number in the later state, or `None` if the author's sheet was not added. A deleted
    /// sheet keeps its number, because numbers are never reused. The map also does not show whether
    /// the deletion was rejected, as is the deletion of a workbook's last sheet.
    pub target: Option<SheetId>,
    /// Map of the rows.
    pub rows: AxisMap,
    /// Map of the columns.
    pub columns: AxisMap,
}

impl SheetMap {
    /// Creates the map of an unchanged sheet.
    #[must_use]
    pub fn identity(sheet: SheetId) -> Self {
        let (rows, columns) = (AxisMap::identity(Axis::Rows), AxisMap::identity(Axis::Columns));
        Self { target: Some(sheet), rows, columns }
    }

    fn is_identity(&self, sheet: SheetId) -> bool {
        self.target == Some(sheet) && self.rows.is_identity() && self.columns.is_identity()
    }

    fn axis_mut(&mut self, axis: Axis) -> &mut AxisMap {
        match axis {
            Axis::Rows => &mut self.rows,
            Axis::Columns => &mut self.columns,
        }
    }
}

impl SpaceMap {
    /// Creates the map of committed operations, in order.
    #[must_use]
    pub fn from_operations(operations: &[Operation]) -> Self {
        let mut map = Self::default();
        for operation in operations.iter().filter(|operation| operation.moves_cells()) {
            map.add_foreign(operation);
        }
        map
    }

    /// Creates a map from stored sheet maps.
    #[must_use]
    pub fn from_sheets(sheets: impl IntoIterator<Item = (SheetId, SheetMap)>) -> Self {
        let changed = sheets.into_iter().filter(|(id, map)| !map.is_identity(*id));
        Self { sheets: changed.collect(), ..Self::default() }
    }

    /// Returns the map without the numbers of added sheets. A stored map does not need them,
    /// because it never transforms an operation that adds a sheet.
    #[must_use]
    pub fn without_added_sheets(&self) -> Self {
        let formula_sheets = self.formula_sheets.clone();
        Self::from_sheets(self.sheets.clone()).with_formula_sheets(formula_sheets)
    }

    /// Returns the map with the sheets that formulas of the author may name. `author_tabs` are those
    /// that the author has seen, and `later_tabs` those of the later state.
    #[must_use]
    pub fn with_tabs(self, author_tabs: &Tabs, later_tabs: &Tabs) -> Self {
        let later_number = |sheet| self.sheet_map(sheet).target;
        let formula_sheets = FormulaSheets::new(author_tabs, later_tabs, later_number);
        self.with_formula_sheets(formula_sheets)
    }

    /// Returns the map with the sheets of a stored map.
    #[must_use]
    pub fn with_formula_sheets(self, formula_sheets: FormulaSheets) -> Self {
        Self { formula_sheets, ..self }
    }

    /// Returns the map without sheets that the formulas of `operations` do not name.
    #[must_use]
    pub fn with_sheets_named_in(&self, operations: &[Operation]) -> Self {
        self.clone().with_formula_sheets(self.formula_sheets.named_in(operations))
    }

    /// Returns the sheets that formulas of the author may name.
    #[must_use]
    pub fn formula_sheets(&self) -> &FormulaSheets {
        &self.formula_sheets
    }

    pub(crate) fn keeps_order(&self) -> bool {
        self.sheets.values().all(|map| map.rows.keeps_order() && map.columns.keeps_order())
    }

    /// Whether the map changes nothing.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.sheets.is_empty()
            && self.added_sheets.is_empty()
            && self.own_sheets.is_empty()
            && self.formula_sheets.has_same_names()
    }

    /// Returns the map of a sheet, given its number in the older state. If no map is stored for the
    /// sheet, its number is unchanged. This holds even if others tried to add a sheet with the same
    /// number, because the author can refer only to a sheet that the author knows.
    #[must_use]
    pub fn sheet_map(&self, id: SheetId) -> SheetMap {
        self.sheets.get(&id).cloned().unwrap_or_else(|| SheetMap::identity(id))
    }

    /// Returns the maps of the changed sheets, with their numbers in the older state.
    pub fn sheets(&self) -> impl Iterator<Item = (SheetId, &SheetMap)> {
        self.sheets.iter().map(|(id, map)| (*id, map))
    }

    /// Records that a sheet of the older state was deleted, so that later operations on the sheet
    /// have no effect.
    pub(crate) fn drop_sheet(&mut self, id: SheetId) {
        self.sheets.insert(id, SheetMap { target: None, ..SheetMap::identity(id) });
    }

    /// Returns the number of a new sheet in the later state. This is the author's number or, if
    /// another new sheet has it, the next free number. The author's number must be greater than all
    /// sheet numbers of the older state.
    pub(super) fn free_sheet_number(&self, authored_number: SheetId) -> SheetId {
        let mut free_number = authored_number;
        for taken_number in self.added_sheets.range(authored_number..) {
            if *taken_number != free_number {
                break;
            }
            free_number = SheetId(free_number.0.saturating_add(1));
        }
        free_number
    }

    /// Whether any sheet map has more than `MAX_AXIS_RUNS` runs.
    #[must_use]
    pub fn exceeds_run_limit(&self) -> bool {
        let is_long = |map: &AxisMap| map.runs().len() > MAX_AXIS_RUNS;
        self.sheets.values().any(|sheet| is_long(&sheet.rows) || is_long(&sheet.columns))
    }

    /// Adds a committed operation that the author has not seen. The operation uses the coordinates
    /// of the later state.
    pub fn add_foreign(&mut self, operation: &Operation) {
        if let Some(AxisChange { sheet, axis, map }) = AxisChange::of(operation) {
            self.append_axis_map(axis, sheet, &map);
        }
        if let Some(added_sheet) = added_sheet(operation) {
            self.added_sheets.insert(added_sheet);
        }
    }

    /// Adds the map of later operations that the author has not seen.
    pub(crate) fn add_foreign_map(&mut self, next: &Self) {
        for (sheet, map) in &next.sheets {
            self.append_axis_map(Axis::Rows, *sheet, &map.rows);
            self.append_axis_map(Axis::Columns, *sheet, &map.columns);
        }
        self.added_sheets.extend(&next.added_sheets);
    }

    /// Appends `next` to the axis map of the sheet that has the number `target` in the later state.
    /// `next` must start at the later state.
    fn append_axis_map(&mut self, axis: Axis, target: SheetId, next: &AxisMap) {
        if next.is_identity() {
            return;
        }
        for older_number in self.older_numbers_of(target) {
            self.update_sheet(older_number, |sheet_map| {
                let axis_map = sheet_map.axis_mut(axis);
                *axis_map = axis_map.then(next);
            });
        }
    }

    /// `previous` must lead to the older state.
    fn prepend_axis_map(&mut self, axis: Axis, sheet: SheetId, previous: &AxisMap) {
        self.update_sheet(sheet, |sheet_map| {
            let axis_map = sheet_map.axis_mut(axis);
            *axis_map = previous.then(axis_map);
        });
    }

    fn older_numbers_of(&self, target: SheetId) -> Vec<SheetId> {
        let mapped_sheets = self.sheets.iter().filter(|(_, map)| map.target == Some(target));
        let mut older_numbers: Vec<SheetId> = mapped_sheets.map(|(id, _)| *id).collect();
        // A sheet without a stored map keeps its number.
        if !self.sheets.contains_key(&target) {
            older_numbers.push(target);
        }
        older_numbers
    }

    fn update_sheet(&mut self, id: SheetId, update: impl FnOnce(&mut SheetMap)) {
        let mut map = self.sheet_map(id);
        update(&mut map);
        if map.is_identity(id) && !self.own_sheets.contains(&id) {
            self.sheets.remove(&id);
        } else {
            self.sheets.insert(id, map);
        }
    }

    /// Adds one of the author's mutations, whose `authored` operations were committed as
    /// `committed`. Before, the map leads from the author's coordinates to the later coordinates.
    /// Afterwards, it leads from the coordinates after `authored` to those after `committed`: `M :=
    /// authored⁻¹ ∘ M ∘ committed`. Rows that the author inserted are mapped to the committed rows.
    pub fn add_own(&mut self, authored: &Operation, committed: &[Operation]) {
        if let Some(AxisChange { sheet, axis, map }) = AxisChange::of(authored) {
            self.prepend_axis_map(axis, sheet, &map.reversed());
        }
        committed.iter().for_each(|operation| self.add_foreign(operation));
        match (authored, committed) {
            (Operation::InsertRows(authored), [Operation::InsertRows(committed)]) => {
                self.connect_inserted(Axis::Rows, authored, committed);
            }
            (Operation::InsertColumns(authored), [Operation::InsertColumns(committed)]) => {
                self.connect_inserted(Axis::Columns, authored, committed);
            }
            _ => {}
        }
        if let Some(added_sheet) = added_sheet(authored) {
            self.connect_added_sheet(added_sheet, committed);
        }
    }

    /// Maps the author's number of a new sheet to the committed number, or to `None` if the sheet
    /// was not added.
    fn connect_added_sheet(&mut self, authored: SheetId, committed: &[Operation]) {
        let is_first_addition = self.own_sheets.insert(authored);
        if !is_first_addition {
            // Only a faulty client adds two sheets with the same number.
            return;
        }
        let target = committed.first().and_then(added_sheet);
        self.sheets.insert(authored, SheetMap { target, ..SheetMap::identity(authored) });
    }

    fn connect_inserted(&mut self, axis: Axis, authored: &InsertBefore, committed: &InsertBefore) {
        let capacity = axis.limit().saturating_sub(authored.before.max(committed.before));
        let len = authored.count.min(committed.count).min(capacity);
        let run = Run { src: authored.before, dst: committed.before, len };
        self.update_sheet(authored.sheet, |sheet_map| {
            let axis_map = sheet_map.axis_mut(axis);
            *axis_map = axis_map.clone().with_run(run);
        });
    }
}

struct AxisChange {
    sheet: SheetId,
    axis: Axis,
    map: AxisMap,
}

impl AxisChange {
    /// Returns `None` if the operation moves no rows or columns.
    fn of(operation: &Operation) -> Option<Self> {
        match operation {
            Operation::InsertRows(insert) => Some(Self::insertion(Axis::Rows, insert)),
            Operation::InsertColumns(insert) => Some(Self::insertion(Axis::Columns, insert)),
            Operation::DeleteRows(delete) => Some(Self::deletion(Axis::Rows, delete)),
            Operation::DeleteColumns(delete) => Some(Self::deletion(Axis::Columns, delete)),
            Operation::AddSheet(_)
            | Operation::ImportSheet(_)
            | Operation::DeleteSheet(_)
            | Operation::SetCells(_)
            | Operation::ClearRange(_)
            | Operation::SetFormat(_)
            | Operation::RenameSheet(_)
            | Operation::SetName(_)
            | Operation::Undo(_)
            | Operation::Revert(_)
            | Operation::Rejected(_) => None,
        }
    }

    fn insertion(axis: Axis, insert: &InsertBefore) -> Self {
        let map = AxisMap::insert(axis, insert.before, insert.count);
        Self { sheet: insert.sheet, axis, map }
    }

    fn deletion(axis: Axis, delete: &DeleteSpans) -> Self {
        Self { sheet: delete.sheet, axis, map: AxisMap::delete(axis, &delete.spans) }
    }
}

fn added_sheet(operation: &Operation) -> Option<SheetId> {
    match operation {
        Operation::AddSheet(add) => Some(add.sheet),
        Operation::ImportSheet(import) => Some(import.sheet),
        _ => None,
    }
}
