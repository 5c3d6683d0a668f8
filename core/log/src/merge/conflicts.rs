//! Finds cells that a merge overwrites or deletes although others have changed them.

use std::collections::{BTreeMap, BTreeSet};

use cellar_sheet::a1::CellName;
use cellar_sheet::axis_map::{Axis, AxisMap};
use cellar_sheet::operation::{CellEdit, Operation, SheetId, Spans};

/// The cells that others have changed since the fork was created. Also tracks how merged edits have
/// moved these cells.
#[derive(Debug, Clone, Default)]
pub struct OtherChanges {
    /// The newest edit of each changed cell, keyed by sheet and by row and column before the merge.
    cells: BTreeMap<SheetId, BTreeMap<(u32, u32), CellEdit>>,
    cleared: Vec<(SheetId, Spans, Spans)>,
    /// Maps from the state after the merged edits back to the state before the merge.
    back: BTreeMap<SheetId, SheetMaps>,
}

/// The cells that were changed both by one merged edit and by others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conflicts {
    /// Total number of cells in conflict.
    pub count: u64,
    /// The first cells in conflict, up to the requested maximum. The rows and columns are those
    /// before the merge.
    pub cells: Vec<(SheetId, CellName)>,
}

#[derive(Debug, Clone)]
struct SheetMaps {
    rows: AxisMap,
    columns: AxisMap,
}

impl Default for SheetMaps {
    fn default() -> Self {
        Self { rows: AxisMap::identity(Axis::Rows), columns: AxisMap::identity(Axis::Columns) }
    }
}

impl SheetMaps {
    /// Prepends the map of an operation that precedes the mapped operations.
    fn prepend(&mut self, axis: Axis, map: &AxisMap) {
        let maps = match axis {
            Axis::Rows => &mut self.rows,
            Axis::Columns => &mut self.columns,
        };
        *maps = map.then(maps);
    }
}

impl OtherChanges {
    /// Collects the changes made since the fork was created. `operations` are the committed
    /// operations, oldest first. Each is paired with a flag: `true` if others made it, `false` if
    /// it was merged from the fork earlier.
    #[must_use]
    pub fn of<'a>(operations: impl DoubleEndedIterator<Item = (&'a Operation, bool)>) -> Self {
        let mut changes = Self::default();
        let mut forward: BTreeMap<SheetId, SheetMaps> = BTreeMap::new();
        for (operation, is_by_others) in operations.rev() {
            if let Some((sheet, axis, map)) = axis_change(operation) {
                forward.entry(sheet).or_default().prepend(axis, &map);
            } else if is_by_others && let Some(sheet) = operation.sheet() {
                let maps = forward.entry(sheet).or_default();
                changes.add(operation, sheet, maps);
            }
        }
        changes
    }

    /// Records the changes of an operation. `maps` map from the state after the operation to the
    /// newest state.
    fn add(&mut self, operation: &Operation, sheet: SheetId, maps: &SheetMaps) {
        match operation {
            Operation::SetCells(set) => {
                let cells = self.cells.entry(sheet).or_default();
                for edit in &set.cells {
                    let now = maps.rows.get(edit.row).zip(maps.columns.get(edit.column));
                    if let Some(now) = now {
                        // Operations are visited from newest to oldest, so the first edit found is
                        // the newest.
                        cells.entry(now).or_insert_with(|| edit.clone());
                    }
                }
            }
            Operation::ClearRange(clear) => {
                let rows = maps.rows.kept_spans(&clear.rows);
                let columns = maps.columns.kept_spans(&clear.columns);
                if !rows.is_empty() && !columns.is_empty() {
                    self.cleared.push((sheet, rows, columns));
                }
            }
            _ => {}
        }
    }

    /// Returns the conflicts of the next merged edit and lists at most `max_cells` of them.
    /// `operations` are the committed operations of the edit, in order.
    pub fn conflicts_of(&mut self, operations: &[Operation], max_cells: usize) -> Conflicts {
        let mut found = BTreeSet::new();
        for operation in operations {
            match operation {
                Operation::SetCells(set) => {
                    let in_conflict =
                        set.cells.iter().filter_map(|edit| self.changed_otherwise(set.sheet, edit));
                    found.extend(in_conflict.map(|cell| (set.sheet, cell)));
                }
                Operation::ClearRange(clear) => {
                    self.find_changed(clear.sheet, &mut found, |row, column| {
                        clear.rows.contains(row) && clear.columns.contains(column)
                    });
                }
                Operation::DeleteRows(delete) => {
                    self.find_changed(delete.sheet, &mut found, |row, _| {
                        delete.spans.contains(row)
                    });
                }
                Operation::DeleteColumns(delete) => {
                    self.find_changed(delete.sheet, &mut found, |_, column| {
                        delete.spans.contains(column)
                    });
                }
                Operation::DeleteSheet(delete) => {
                    self.find_changed(delete.sheet, &mut found, |_, _| true);
                }
                Operation::ImportSheet(import) => {
                    if let Some(replaced) = import.replaces {
                        self.find_changed(replaced, &mut found, |_, _| true);
                    }
                }
                _ => {}
            }
            if let Some((sheet, axis, map)) = axis_change(operation) {
                self.back.entry(sheet).or_default().prepend(axis, &map.reversed());
            }
        }
        let count = u64::try_from(found.len()).unwrap_or(u64::MAX);
        let listed = found.into_iter().take(max_cells);
        let cells = listed.map(|(sheet, (row, column))| (sheet, CellName { row, column }));
        Conflicts { count, cells: cells.collect() }
    }

    /// Returns the row and column before the merge if others have cleared the cell or given it
    /// different contents.
    fn changed_otherwise(&self, sheet: SheetId, edit: &CellEdit) -> Option<(u32, u32)> {
        let (row, column) = match self.back.get(&sheet) {
            None => (edit.row, edit.column),
            Some(back) => back.rows.get(edit.row).zip(back.columns.get(edit.column))?,
        };
        let is_cleared = self.cleared.iter().any(|(cleared_sheet, rows, columns)| {
            *cleared_sheet == sheet && rows.contains(row) && columns.contains(column)
        });
        let other = self.cells.get(&sheet).and_then(|cells| cells.get(&(row, column)));
        let is_changed = is_cleared || other.is_some_and(|other| !has_equal_contents(edit, other));
        is_changed.then_some((row, column))
    }

    /// Adds to `found` the cells that others have changed, with their rows and columns before the
    /// merge, and for whose rows and columns now `is_affected` returns `true`. Ranges that others cleared are ignored, because they contain nothing that a merge
    /// could delete.
    fn find_changed(
        &self,
        sheet: SheetId,
        found: &mut BTreeSet<(SheetId, (u32, u32))>,
        is_affected: impl Fn(u32, u32) -> bool,
    ) {
        let Some(cells) = self.cells.get(&sheet) else { return };
        let forward =
            self.back.get(&sheet).map(|back| (back.rows.reversed(), back.columns.reversed()));
        for cell in cells.keys() {
            let now = match &forward {
                None => Some(*cell),
                Some((rows, columns)) => rows.get(cell.0).zip(columns.get(cell.1)),
            };
            if now.is_some_and(|(row, column)| is_affected(row, column)) {
                found.insert((sheet, *cell));
            }
        }
    }
}

fn has_equal_contents(one: &CellEdit, other: &CellEdit) -> bool {
    (&one.value, &one.formula, &one.format) == (&other.value, &other.formula, &other.format)
}

fn axis_change(operation: &Operation) -> Option<(SheetId, Axis, AxisMap)> {
    let change = |sheet, axis, map| Some((sheet, axis, map));
    match operation {
        Operation::InsertRows(insert) => change(
            insert.sheet,
            Axis::Rows,
            AxisMap::insert(Axis::Rows, insert.before, insert.count),
        ),
        Operation::InsertColumns(insert) => {
            let map = AxisMap::insert(Axis::Columns, insert.before, insert.count);
            change(insert.sheet, Axis::Columns, map)
        }
        Operation::DeleteRows(delete) => {
            change(delete.sheet, Axis::Rows, AxisMap::delete(Axis::Rows, &delete.spans))
        }
        Operation::DeleteColumns(delete) => {
            change(delete.sheet, Axis::Columns, AxisMap::delete(Axis::Columns, &delete.spans))
        }
        _ => None,
    }
}
