//! Maps coordinates of an older state to a later state.

use std::collections::{BTreeMap, BTreeSet};

use cellar_base::limits::MAX_AXIS_RUNS;
use cellar_sheet::axis_map::{Axis, AxisMap, Run};
use cellar_sheet::operation::{InsertBefore, Operation, SheetId};

/// Coordinate map of a workbook from an older state to a later state. Sheets without an entry in
/// the map are unchanged.
///
/// The older state is what the author of an operation saw: a base, followed by the author's own
/// mutations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpaceMap {
    /// Maps of all sheets that were changed or added by the author.
    sheets: BTreeMap<SheetId, SheetMap>,
    /// Sheet numbers added by any author since the older state.
    added_sheets: BTreeSet<SheetId>,
    /// Sheet numbers added by the author. Each refers to the author's sheet, even if others added a
    /// sheet with the same number.
    own_sheets: BTreeSet<SheetId>,
}

/// Coordinate map of a single sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetMap {
    /// Sheet number in the later state, or `None` if the author failed to add the sheet. A deleted
    /// sheet keeps its number: numbers are never reused, and the map cannot tell whether the
    /// deletion was rejected (deleting the last sheet is).
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
    /// Creates the map that results from committed operations, in order.
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

    /// Returns only the cell-moving part of the map, without added sheet numbers. Sufficient for a
    /// stored map, which never transforms an operation that adds a sheet.
    #[must_use]
    pub fn cells_only(&self) -> Self {
        Self::from_sheets(self.sheets.clone())
    }

    /// Whether the map changes nothing.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.sheets.is_empty() && self.added_sheets.is_empty() && self.own_sheets.is_empty()
    }

    /// Returns the map of a sheet by its older number. A sheet without a map keeps its number, even
    /// if others tried to add a sheet with the same number: an author who refers to a sheet has
    /// seen it.
    #[must_use]
    pub fn sheet_map(&self, id: SheetId) -> SheetMap {
        self.sheets.get(&id).cloned().unwrap_or_else(|| SheetMap::identity(id))
    }

    /// Returns the maps of the changed sheets, by older sheet number.
    pub fn sheets(&self) -> impl Iterator<Item = (SheetId, &SheetMap)> {
        self.sheets.iter().map(|(id, map)| (*id, map))
    }

    /// Records the deletion of a sheet in the older state. Later operations on the sheet have no
    /// effect.
    pub(crate) fn drop_sheet(&mut self, id: SheetId) {
        self.sheets.insert(id, SheetMap { target: None, ..SheetMap::identity(id) });
    }

    /// Returns the later number of a new sheet: the author's number or, if another new sheet
    /// already has it, the next free one. The author's number must be above every number of the
    /// older state.
    pub(super) fn free_sheet_number(&self, wanted: SheetId) -> SheetId {
        let mut free = wanted;
        for taken in self.added_sheets.range(wanted..) {
            if *taken != free {
                break;
            }
            free = SheetId(free.0.saturating_add(1));
        }
        free
    }

    /// Whether any sheet map has more than `MAX_AXIS_RUNS` runs.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        let is_long = |map: &AxisMap| map.runs().len() > MAX_AXIS_RUNS;
        self.sheets.values().any(|sheet| is_long(&sheet.rows) || is_long(&sheet.columns))
    }

    /// Adds a committed operation that is unknown to the author, in coordinates of the later state.
    pub fn add_foreign(&mut self, operation: &Operation) {
        match operation {
            Operation::InsertRows(insert) => self.add_insert(Axis::Rows, insert),
            Operation::InsertColumns(insert) => self.add_insert(Axis::Columns, insert),
            Operation::DeleteRows(delete) => {
                let deletion = AxisMap::delete(Axis::Rows, &delete.spans);
                self.append_axis_map(Axis::Rows, delete.sheet, &deletion);
            }
            Operation::DeleteColumns(delete) => {
                let deletion = AxisMap::delete(Axis::Columns, &delete.spans);
                self.append_axis_map(Axis::Columns, delete.sheet, &deletion);
            }
            Operation::AddSheet(add) => {
                self.added_sheets.insert(add.sheet);
            }
            Operation::ImportSheet(import) => {
                self.added_sheets.insert(import.sheet);
            }
            Operation::DeleteSheet(_)
            | Operation::SetCells(_)
            | Operation::ClearRange(_)
            | Operation::SetFormat(_)
            | Operation::RenameSheet(_)
            | Operation::Undo(_)
            | Operation::Revert(_)
            | Operation::Rejected(_) => {}
        }
    }

    /// Adds a map of later operations that are unknown to the author.
    pub(crate) fn add_foreign_map(&mut self, next: &Self) {
        for (sheet, map) in &next.sheets {
            self.append_axis_map(Axis::Rows, *sheet, &map.rows);
            self.append_axis_map(Axis::Columns, *sheet, &map.columns);
        }
        self.added_sheets.extend(&next.added_sheets);
    }

    fn add_insert(&mut self, axis: Axis, insert: &InsertBefore) {
        let insertion = AxisMap::insert(axis, insert.before, insert.count);
        self.append_axis_map(axis, insert.sheet, &insertion);
    }

    /// Composes `next` after the map of this sheet. `next` must map the same sheet, starting at the
    /// later state.
    fn append_axis_map(&mut self, axis: Axis, target: SheetId, next: &AxisMap) {
        if next.is_identity() {
            return;
        }
        for id in self.sources(target) {
            self.update_sheet(id, |map| {
                let axis_map = map.axis_mut(axis);
                *axis_map = axis_map.then(next);
            });
        }
    }

    /// Composes `previous` before a sheet's map, which starts at the older state.
    fn prepend_axis_map(&mut self, axis: Axis, sheet: SheetId, previous: &AxisMap) {
        self.update_sheet(sheet, |map| {
            let axis_map = map.axis_mut(axis);
            *axis_map = previous.then(axis_map);
        });
    }

    /// Returns the older numbers of the later sheet `target`.
    fn sources(&self, target: SheetId) -> Vec<SheetId> {
        let listed = self.sheets.iter().filter(|(_, map)| map.target == Some(target));
        let mut sources: Vec<SheetId> = listed.map(|(id, _)| *id).collect();
        // A sheet without a map keeps its number.
        if !self.sheets.contains_key(&target) {
            sources.push(target);
        }
        sources
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

    /// Adds a mutation of the author. The resulting map leads from the author's coordinates after
    /// `authored` to the later coordinates after `committed`, and maps the author's inserted rows
    /// to the committed ones: `M := authored⁻¹ ∘ M ∘ committed`.
    pub fn add_own(&mut self, authored: &Operation, committed: &[Operation]) {
        self.prepend_inverse(authored);
        committed.iter().for_each(|operation| self.add_foreign(operation));
        match (authored, committed) {
            (Operation::InsertRows(authored), [Operation::InsertRows(committed)]) => {
                self.connect_inserted(Axis::Rows, authored, committed);
            }
            (Operation::InsertColumns(authored), [Operation::InsertColumns(committed)]) => {
                self.connect_inserted(Axis::Columns, authored, committed);
            }
            (Operation::AddSheet(add), committed) => self.connect_added_sheet(add.sheet, committed),
            (Operation::ImportSheet(import), committed) => {
                self.connect_added_sheet(import.sheet, committed);
            }
            _ => {}
        }
    }

    /// Composes the inverse of an author's operation before the map.
    fn prepend_inverse(&mut self, authored: &Operation) {
        let (axis, sheet, map) = match authored {
            Operation::InsertRows(insert) => {
                let map = AxisMap::insert(Axis::Rows, insert.before, insert.count);
                (Axis::Rows, insert.sheet, map)
            }
            Operation::InsertColumns(insert) => {
                let map = AxisMap::insert(Axis::Columns, insert.before, insert.count);
                (Axis::Columns, insert.sheet, map)
            }
            Operation::DeleteRows(delete) => {
                (Axis::Rows, delete.sheet, AxisMap::delete(Axis::Rows, &delete.spans))
            }
            Operation::DeleteColumns(delete) => {
                (Axis::Columns, delete.sheet, AxisMap::delete(Axis::Columns, &delete.spans))
            }
            _ => return,
        };
        self.prepend_axis_map(axis, sheet, &map.reversed());
    }

    /// Maps the author's number of an added sheet to the committed sheet number, or to `None` if
    /// the addition was not committed.
    fn connect_added_sheet(&mut self, authored: SheetId, committed: &[Operation]) {
        let is_first = self.own_sheets.insert(authored);
        if !is_first {
            // Only a faulty author adds two sheets with the same number.
            return;
        }
        let target = match committed.first() {
            Some(Operation::AddSheet(add)) => Some(add.sheet),
            Some(Operation::ImportSheet(import)) => Some(import.sheet),
            _ => None,
        };
        self.sheets.insert(authored, SheetMap { target, ..SheetMap::identity(authored) });
    }

    /// Maps the author's inserted rows or columns to the committed ones.
    fn connect_inserted(&mut self, axis: Axis, authored: &InsertBefore, committed: &InsertBefore) {
        let capacity = axis.limit().saturating_sub(authored.before.max(committed.before));
        let len = authored.count.min(committed.count).min(capacity);
        let run = Run { src: authored.before, dst: committed.before, len };
        self.update_sheet(authored.sheet, |map| {
            let axis_map = map.axis_mut(axis);
            *axis_map = axis_map.clone().with_run(run);
        });
    }
}
